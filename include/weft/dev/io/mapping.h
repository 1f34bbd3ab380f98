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
  // What the program has itself stands for a file.
  explicit Mapping(std::vector<std::byte> own) : own_(std::move(own)), bytes_(own_) {}
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

  // The pages of this part alone need not stay in memory: who looks at them again reads the file again.
  // Nobody may have written to them. What lies elsewhere is left as it is.
  void forget(std::span<const std::byte> part) const;

 private:
  bool holds(std::span<const std::byte> part) const;

  std::vector<std::byte> own_;
  std::span<std::byte> bytes_;
};

// Tensors of what a file holds: in place where the device can and elements lie as they have to, else copied. What is
// in place may be written, if only by this process.
class Memory {
 public:
  // To the tensors, before they are frozen. Of constants that nobody wrote to, the file has the pages as well.
  enum class Assigned { Perhaps, Never };
  Memory(std::shared_ptr<const Mapping> file, const std::string& device,
         Assigned assigned = Assigned::Perhaps);
  Tensor tensor(std::span<const std::byte> part, DType dtype,
                const std::vector<std::int64_t>& shape) const;

 private:
  std::shared_ptr<const Mapping> file_;
  std::string device_, home_;  // where to compute; which of the devices with addresses it lies on
  Assigned assigned_;
};

}  // namespace weft
