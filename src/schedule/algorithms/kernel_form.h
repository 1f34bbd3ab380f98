// An alternative form of a kernel, which consists of several kernels.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct KernelForm {
  // A kernel of the form. Its PARAMs below `params` are the original kernel's, the others `memory`.
  struct Part {
    UOp kernel;
    bool is_once = false;  // it only reads constants
    bool is_repeated =
        false;  // such parts run in turn for each value 0 ... iterations-1 of their variable
  };
  std::int32_t params = 0;  // number of PARAMs of the original kernel
  std::vector<UOp> memory;  // BUFFERs; PARAM `params + i` is memory[i]
  std::vector<Part> parts;  // in execution order; repeated ones are adjacent
  std::int64_t iterations = 1;
};

// Builds a form.
class FormMaker {
 public:
  explicit FormMaker(const UOp& kernel);

  // Returns the number of the memory, which the other functions take.
  std::int32_t add_memory(DType dtype, const std::vector<UOp>& sizes, Space space = Space::Global);
  UOp param(std::int32_t memory, Access access) const;
  UOp load(std::int32_t memory, const std::vector<UOp>& at) const;
  UOp store(std::int32_t memory, const std::vector<UOp>& at, const UOp& value) const;
  // Names the kernel after the original one, with a suffix.
  UOp kernel(const std::vector<UOp>& stores, const std::vector<UOp>& loops,
             std::string_view suffix) const;
  void add(UOp part, bool is_once = false) { form_.parts.push_back({std::move(part), is_once}); }
  void add_repeated(UOp part) { form_.parts.push_back({std::move(part), false, true}); }
  void set_iterations(std::int64_t iterations) { form_.iterations = iterations; }

  KernelForm made() { return std::move(form_); }

 private:
  Symbol name_;
  KernelForm form_;
};

}  // namespace weft
