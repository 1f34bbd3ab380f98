// Files as memory: a page is read when it is first looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft {

class Mapping {
 public:
  explicit Mapping(const std::string& path);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// Tensors of memory that `owner` keeps: in place where the device can and elements lie as they have to, else copied.
// That memory may be written, if only by this process.
class Memory {
 public:
  Memory(std::shared_ptr<const void> owner, const std::string& device);
  Tensor tensor(std::span<const std::byte> part, DType dtype,
                const std::vector<std::int64_t>& shape) const;

 private:
  std::shared_ptr<const void> owner_;
  std::string device_, home_;  // where to compute; which of the devices with addresses it lies on
};

}  // namespace weft
