// A buffer: bytes on a device, allocated when first used and released with their last owner.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <weft/dev/device/device.h>

namespace weft {

class Buffer {
 public:
  Buffer(Device& device, std::size_t bytes) : device_(device), bytes_(bytes) {}
  // Bytes that somebody else owns and keeps for as long as this lives, if need be by `owner`. A
  // device whose memory the program reaches uses them in place, others hold a copy.
  Buffer(Device& device, std::span<std::byte> bytes, std::shared_ptr<const void> owner = nullptr);
  // Bytes that this makes when they are first asked for.
  using Recipe = std::function<void(const Argument&)>;
  Buffer(Device& device, std::size_t bytes, Recipe recipe)
      : device_(device), bytes_(bytes), recipe_(std::move(recipe)) {}
  // A part of another buffer.
  Buffer(const std::shared_ptr<Buffer>& whole, std::size_t offset, std::size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // Before its bytes are first asked for: whether they stay for long.
  void set_lasting(bool is_lasting) { lasting_ = is_lasting; }

  Device& device() const { return device_; }
  std::size_t bytes() const { return bytes_; }
  bool is_allocated() const { return memory_ != nullptr; }

  Argument argument();
  // For as long as `use` runs. What a recipe made for that goes again, where nobody has been given it to keep.
  void lend(const std::function<void(const Argument&)>& use);
  // What to do after that, and now and then meanwhile from another thread where they are many, with foreign bytes that are
  // constant, as long as nobody writes them: their owner may have them elsewhere as well. Not beside a lend().
  void after_lending(std::function<void()> rest) { rest_ = std::move(rest); }
  bool may_rest() const { return rest_ != nullptr && constant_; }
  // The same at once.
  void rest() const {
    if (may_rest()) rest_();
  }
  void copy_in(std::span<const std::byte> from, std::size_t offset = 0);
  void copy_out(std::span<std::byte> to, std::size_t offset = 0);
  // As many bytes as this has, of a buffer on any device from `offset` on.
  void copy_from(Buffer& other, std::size_t offset = 0);

  // What somebody notes of its bytes, until they are overwritten, and how often they were: an assignment says so.
  void set_note(std::shared_ptr<const void> note) {
    const std::lock_guard lock(noting_);
    note_ = std::move(note);
  }
  std::shared_ptr<const void> note() const {
    const std::lock_guard lock(noting_);
    return note_;
  }
  void count_overwriting() {
    set_note(nullptr);
    ++overwritten_;
  }
  std::uint64_t overwritten() const { return overwritten_; }

  // Whether nobody writes it any more. Who copies into it does.
  void set_constant(bool is_constant) { constant_ = is_constant; }
  bool is_constant() const { return constant_; }
  // What is made of its bytes, by a name for how: once where they are constant, else each time that it is asked for.
  std::shared_ptr<Buffer> derived(const std::string& name,
                                  const std::function<void(std::shared_ptr<Buffer>&)>& make);

 private:
  void* memory();
  void make();
  std::byte* address();  // where the device uses addresses
  void check_part(std::size_t offset, std::size_t bytes) const;

  Device& device_;
  std::size_t bytes_;
  std::atomic<void*> memory_ = nullptr;
  std::size_t offset_ = 0;  // in the memory
  bool foreign_ = false;    // the memory is not the device's
  bool lasting_ = false;
  std::shared_ptr<const void> owner_;
  Recipe recipe_;
  std::function<void()> rest_;
  std::mutex making_;
  bool is_given_ = false;
  std::atomic<bool> constant_ = false;
  mutable std::mutex noting_;
  std::shared_ptr<const void> note_;
  std::atomic<std::uint64_t> overwritten_ = 0;
  std::mutex deriving_;
  std::map<std::string, std::shared_ptr<Buffer>> derived_;
};

}  // namespace weft
