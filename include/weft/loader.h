// Batches of a data set in a random order, and a line that says how far one is.
//
//   DataLoader loader({images, labels}, {.batch_size = 64, .shuffle = true});
//   Progress progress(loader.batches());
//   for (const std::vector<Tensor>& batch : loader) progress.step(train(batch[0], batch[1]));
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft {

struct LoaderOptions {
  std::int64_t batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;   // a batch that would be smaller
  std::uint64_t seed = 0;   // of the order, which is another in each epoch
  std::int64_t ahead = 2;   // batches that a thread makes before they are asked for; 0: no thread
  std::string device = {};  // of the batches
};

class DataLoader {
 public:
  using Places = std::vector<std::int64_t>;
  using Fetch = std::function<std::vector<Tensor>(const Places& places)>;
  class Batches;
  class Iterator;

  // Of tensors whose first axes are as long: row i of each belongs together.
  DataLoader(const std::vector<Tensor>& tensors, const LoaderOptions& options = {});
  // Of elements that `fetch` makes batches of; a thread of the loader calls it.
  DataLoader(std::int64_t count, Fetch fetch, const LoaderOptions& options = {});

  // What is left of this epoch: all of it, unless a loop was left early or state() was set. After the last batch
  // the next epoch begins. One loop at a time.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  std::int64_t batches() const;  // of a whole epoch
  std::int64_t epoch() const { return epoch_; }
  // Where it is, as a tensor to save; whoever sets it to another loader of the same data gets the batches that
  // this one would give.
  Tensor state() const;
  void set_state(const Tensor& state);

 private:
  Places places_of(std::int64_t batch) const;
  void shuffle();

  std::int64_t count_;
  Fetch fetch_;
  LoaderOptions options_;
  std::uint64_t seed_;
  std::int64_t epoch_ = 0, next_ = 0;  // the next batch
  Places order_;
};

class DataLoader::Iterator {
 public:
  Iterator(DataLoader& loader, std::shared_ptr<Batches> batches);
  const std::vector<Tensor>& operator*() const { return batch_; }
  Iterator& operator++();
  friend bool operator==(const Iterator& a, std::default_sentinel_t) { return a.is_done_; }

 private:
  void take();

  DataLoader& loader_;
  std::shared_ptr<Batches> batches_;
  std::vector<Tensor> batch_;
  bool is_done_ = false;
};

// On stderr, where that is a terminal: how much is done, how fast, the loss, and how long it will take.
class Progress {
 public:
  explicit Progress(std::int64_t total, std::string name = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(double loss = std::numeric_limits<double>::quiet_NaN());
  // What the line says after so many seconds.
  std::string line(double seconds) const;

 private:
  double seconds() const;

  const std::int64_t total_;
  const std::string name_;
  const bool is_shown_;
  const std::chrono::steady_clock::time_point start_;
  std::int64_t done_ = 0;
  double loss_, shown_ = -1;  // when it was written last
};

}  // namespace weft
