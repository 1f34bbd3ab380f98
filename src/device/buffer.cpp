#include <weft/dev/device/buffer.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <weft/error.h>

namespace weft {
namespace {

// Held here at a time of what goes from one device to another, neither of which has addresses.
constexpr std::size_t most_between = std::size_t{16} << 20;

}  // namespace

void* Device::allocate(std::size_t bytes, bool is_lasting) {
  void* memory = is_lasting ? allocator().allocate_lasting(bytes) : allocator().allocate(bytes);
  const std::lock_guard lock(counting_);
  use_.bytes += bytes;
  use_.peak = std::max(use_.peak, use_.bytes);
  ++use_.allocations;
  return memory;
}

void Device::release(void* memory, std::size_t bytes) {
  allocator().release(memory, bytes);
  const std::lock_guard lock(counting_);
  use_.bytes -= bytes;
}

MemoryUse Device::memory_use() const {
  const std::lock_guard lock(counting_);
  return use_;
}

void Device::forget_peak() {
  const std::lock_guard lock(counting_);
  use_.peak = use_.bytes;
}

Buffer::Buffer(Device& device, std::span<std::byte> bytes, std::shared_ptr<const void> owner)
    : Buffer(device, bytes.size()) {
  if (device.allocator().uses_addresses()) {
    foreign_ = true;
    memory_ = bytes.data();
    owner_ = std::move(owner);
  } else {
    copy_in(bytes);
  }
}

Buffer::Buffer(const std::shared_ptr<Buffer>& whole, std::size_t offset, std::size_t bytes)
    : Buffer(whole->device(), bytes) {
  whole->check_part(offset, bytes);
  memory_ = whole->memory();
  offset_ = whole->offset_ + offset;
  foreign_ = true;
  owner_ = whole;
}

Buffer::~Buffer() {
  if (memory_ != nullptr && !foreign_) device_.release(memory_, bytes_);
}

void* Buffer::memory() {
  if (recipe_) {
    const std::lock_guard lock(making_);
    is_given_ = true;
    make();
  } else if (memory_ == nullptr && !foreign_) {
    const std::lock_guard lock(making_);
    if (memory_ == nullptr) memory_ = device_.allocate(bytes_, lasting_);
  }
  return memory_;
}

void Buffer::make() {
  if (memory_ != nullptr) return;
  void* memory = device_.allocate(bytes_);
  try {
    recipe_({memory, 0, bytes_});
  } catch (...) {
    device_.release(memory, bytes_);
    throw;
  }
  memory_ = memory;
}

Argument Buffer::argument() { return {memory(), offset_, bytes_}; }

namespace {

// Of many bytes that are read from one end to the other: what was read goes meanwhile.
class Resting {
 public:
  explicit Resting(const Buffer& buffer) {
    if (buffer.bytes() < worth_a_thread || !buffer.may_rest()) return;
    try {
      thread_ = std::jthread([&](const std::stop_token& ends) {
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, ends, interval, [&] { return ends.stop_requested(); }))
          buffer.rest();
      });
    } catch (const std::system_error&) {
      thread_ = {};  // there are no more threads: it rests when all is read
    }
  }

 private:
  static constexpr std::size_t worth_a_thread = std::size_t{32} << 20;
  static constexpr std::chrono::milliseconds interval{4};

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // ends before what it waits for
};

}  // namespace

void Buffer::lend(const std::function<void(const Argument&)>& use) {
  if (!recipe_) {
    {
      const Resting resting(*this);
      use(argument());
    }
    rest();
    return;
  }
  const std::lock_guard lock(making_);
  make();
  use({memory_, 0, bytes_});
  if (is_given_) return;
  device_.release(memory_, bytes_);
  memory_ = nullptr;
}

void Buffer::check_part(std::size_t offset, std::size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset)
    user_error(fmt::format("{} bytes at {} of a buffer of {}", bytes, offset, bytes_));
}

void Buffer::copy_in(std::span<const std::byte> from, std::size_t offset) {
  check_part(offset, from.size());
  constant_ = false;
  if (!from.empty()) device_.allocator().copy_in(memory(), offset_ + offset, from);
}

void Buffer::copy_out(std::span<std::byte> to, std::size_t offset) {
  check_part(offset, to.size());
  if (!to.empty()) device_.allocator().copy_out(to, memory(), offset_ + offset);
}

std::byte* Buffer::address() { return static_cast<std::byte*>(memory()) + offset_; }

void Buffer::copy_from(Buffer& other, std::size_t offset) {
  other.check_part(offset, bytes_);
  constant_ = false;
  if (bytes_ == 0) return;
  if (device_.allocator().uses_addresses()) return other.copy_out({address(), bytes_}, offset);
  if (other.device_.allocator().uses_addresses())
    return copy_in({other.address() + offset, bytes_});
  std::vector<std::byte> part(std::min(bytes_, most_between));
  for (std::size_t done = 0; done < bytes_; done += part.size()) {
    const std::span bytes = std::span(part).first(std::min(part.size(), bytes_ - done));
    other.copy_out(bytes, offset + done);
    copy_in(bytes, done);
  }
}

std::shared_ptr<Buffer> Buffer::derived(const std::string& name,
                                        const std::function<void(std::shared_ptr<Buffer>&)>& make) {
  const std::lock_guard lock(deriving_);
  std::shared_ptr<Buffer>& known = derived_[name];
  if (known == nullptr || !is_constant()) make(known);
  return known;
}

}  // namespace weft
