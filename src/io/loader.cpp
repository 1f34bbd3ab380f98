#include <weft/loader.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

namespace weft {
namespace {

// Rows of a tensor, copied by the program: no kernel is compiled for it.
class Rows {
 public:
  Rows(const Tensor& tensor, std::string device)
      : shape_(tensor.shape()), dtype_(tensor.dtype()), device_(std::move(device)) {
    auto bytes = std::make_shared<std::vector<std::byte>>(tensor.nbytes());
    tensor.to_bytes(*bytes);
    bytes_ = std::move(bytes);
  }

  Tensor operator()(const DataLoader::Places& places) const {
    const std::size_t row = shape_[0] == 0 ? 0 : bytes_->size() / std::size_t(shape_[0]);
    std::vector<std::byte> bytes(places.size() * row);
    for (std::size_t i = 0; row > 0 && i < places.size(); ++i)
      std::memcpy(&bytes[i * row], &(*bytes_)[std::size_t(places[i]) * row], row);
    std::vector<std::int64_t> shape = shape_;
    shape[0] = std::ssize(places);
    return Tensor::from_bytes(bytes, Shape(shape), {.dtype = dtype_, .device = device_});
  }

 private:
  std::vector<std::int64_t> shape_;
  DType dtype_;
  std::string device_;
  std::shared_ptr<const std::vector<std::byte>> bytes_;
};

std::int64_t count_of(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) user_error("DataLoader: there are no tensors");
  for (const Tensor& tensor : tensors)
    if (tensor.ndim() == 0 || tensor.size(0) != tensors[0].size(0))
      user_error(
          fmt::format("DataLoader: a tensor of shape ({}) beside one of ({}): want first "
                      "axes that are as long",
                      fmt::join(tensor.shape(), ", "), fmt::join(tensors[0].shape(), ", ")));
  return tensors[0].size(0);
}

DataLoader::Fetch rows_of(const std::vector<Tensor>& tensors, const std::string& device) {
  std::vector<Rows> all;
  for (const Tensor& tensor : tensors) all.emplace_back(tensor, device);
  return [all](const DataLoader::Places& places) {
    std::vector<Tensor> batch;
    for (const Rows& rows : all) batch.push_back(rows(places));
    return batch;
  };
}

}  // namespace

// The batches that are left, made as they are asked for, or some ahead by a thread.
class DataLoader::Batches {
 public:
  using Make = std::function<std::vector<Tensor>(std::int64_t)>;

  Batches(std::int64_t next, std::int64_t last, std::int64_t ahead, Make make)
      : next_(next), last_(last), ahead_(ahead), make_(std::move(make)) {
    if (ahead_ > 0) thread_ = std::thread([this] { run(); });
  }
  ~Batches() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  std::vector<Tensor> take() {
    if (ahead_ <= 0) return make_(next_++);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || failure_ != nullptr; });
    if (ready_.empty()) std::rethrow_exception(failure_);
    std::vector<Tensor> batch = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return batch;
  }

 private:
  void run() {
    try {
      for (; next_ < last_; ++next_) {
        std::vector<Tensor> batch = make_(next_);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopped_ || std::ssize(ready_) < ahead_; });
        if (stopped_) return;
        ready_.push_back(std::move(batch));
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  std::int64_t next_;
  const std::int64_t last_, ahead_;
  const Make make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<Tensor>> ready_;
  std::exception_ptr failure_;
  bool stopped_ = false;
  std::thread thread_;
};

DataLoader::DataLoader(const std::vector<Tensor>& tensors, const LoaderOptions& options)
    : DataLoader(count_of(tensors), rows_of(tensors, options.device), options) {}

DataLoader::DataLoader(std::int64_t count, Fetch fetch, const LoaderOptions& options)
    : count_(count), fetch_(std::move(fetch)), options_(options), seed_(options.seed) {
  if (options.batch_size < 1 || count < 0)
    user_error(fmt::format("DataLoader: batches of {} of {} elements: want at least 1",
                           options.batch_size, count));
  if (!fetch_) user_error("DataLoader: there is no function that makes batches");
  shuffle();
}

std::int64_t DataLoader::batches() const {
  const bool has_rest = !options_.drop_last && count_ % options_.batch_size != 0;
  return count_ / options_.batch_size + (has_rest ? 1 : 0);
}

// Written out, since std::shuffle gives another order with each library.
void DataLoader::shuffle() {
  order_.resize(static_cast<std::size_t>(count_));
  std::iota(order_.begin(), order_.end(), 0);
  if (!options_.shuffle) return;
  std::mt19937_64 random(seed_ + 0x9e3779b97f4a7c15 * static_cast<std::uint64_t>(epoch_ + 1));
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
}

DataLoader::Places DataLoader::places_of(std::int64_t batch) const {
  const std::int64_t first = batch * options_.batch_size;
  return {order_.begin() + first,
          order_.begin() + first + std::min(options_.batch_size, count_ - first)};
}

DataLoader::Iterator DataLoader::begin() {
  const auto make = [this](std::int64_t batch) { return fetch_(places_of(batch)); };
  return {*this, std::make_shared<Batches>(next_, batches(), options_.ahead, make)};
}

Tensor DataLoader::state() const {
  return Tensor(std::vector<std::int64_t>{static_cast<std::int64_t>(seed_), epoch_, next_},
                {.device = "CPU"});
}

void DataLoader::set_state(const Tensor& state) {
  const Called called("DataLoader::set_state");
  if (state.shape() != std::vector<std::int64_t>{3} || state.dtype() != dtypes::i64)
    user_error(fmt::format("{} of shape ({}) where state() gives i64 of (3)", state.dtype().str(),
                           fmt::join(state.shape(), ", ")));
  const auto values = state.to_vector<std::int64_t>();
  if (values[1] < 0 || values[2] < 0 || values[2] > batches())
    user_error(fmt::format("batch {} of epoch {}, of a loader of {} batches", values[2], values[1],
                           batches()));
  seed_ = static_cast<std::uint64_t>(values[0]);
  epoch_ = values[1];
  next_ = values[2];
  shuffle();
}

DataLoader::Iterator::Iterator(DataLoader& loader, std::shared_ptr<Batches> batches)
    : loader_(loader), batches_(std::move(batches)) {
  take();
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  take();
  return *this;
}

// A batch counts as done when it is handed out: a state that is saved while it is worked on comes behind it.
void DataLoader::Iterator::take() {
  if (loader_.next_ < loader_.batches()) {
    batch_ = batches_->take();
    ++loader_.next_;
    return;
  }
  is_done_ = true;
  batches_.reset();  // its thread reads the order
  ++loader_.epoch_;
  loader_.next_ = 0;
  loader_.shuffle();
}

}  // namespace weft
