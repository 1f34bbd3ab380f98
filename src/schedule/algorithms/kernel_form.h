// Another form of a kernel, in several kernels.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct KernelForm {
  // One of its kernels: PARAMs of other numbers than the kernel's own are memory of the form.
  struct Part {
    UOp kernel;
    bool is_once = false;  // it reads constants alone
    bool is_repeated =
        false;  // it has a variable, for whose values 0 ... trips-1 such parts run in turn
  };
  std::int32_t params = 0;  // of the kernel itself
  std::vector<UOp> memory;  // BUFFERs, by the numbers behind those
  std::vector<Part> parts;  // in the order in which they run, repeated ones beside each other
  std::int64_t iterations = 1;
};

// A form while it is made.
class FormMaker {
 public:
  explicit FormMaker(const UOp& kernel);

  // Its number, which kernels of the form know it by.
  std::int32_t add_memory(DType dtype, const std::vector<UOp>& sizes, Space space = Space::Global);
  UOp param(std::int32_t memory, Access access) const;
  // With the name of the whole and a suffix.
  UOp kernel(const UOp& effect, const std::vector<UOp>& loops, std::string_view suffix) const;
  void add(UOp part, bool is_once = false) { form_.parts.push_back({std::move(part), is_once}); }
  void add_repeated(UOp part) { form_.parts.push_back({std::move(part), false, true}); }
  void set_iterations(std::int64_t iterations) { form_.iterations = iterations; }

  KernelForm made() { return std::move(form_); }

 private:
  Symbol name_;
  KernelForm form_;
};

}  // namespace weft
