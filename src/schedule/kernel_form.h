// Another form of a kernel, in several kernels.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct KernelForm {
  // One of its kernels: PARAMs of other numbers than the kernel's own are memory of the form.
  struct Part {
    UOp kernel;
    bool is_once = false;  // it reads constants alone
  };
  std::int32_t params = 0;  // of the kernel itself
  std::vector<UOp> memory;  // BUFFERs, by the numbers behind those
  std::vector<Part> parts;  // in the order in which they run
};

}  // namespace weft
