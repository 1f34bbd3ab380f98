#include "kernel_form.h"

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>

namespace weft {

FormMaker::FormMaker(const UOp& kernel) : name_(kernel->arg<KernelArg>().name) {
  for (const Node* node : toposort(kernel.node()))
    if (node->op() == Op::Param)
      form_.params = std::max(form_.params, node->arg<ParamArg>().slot + 1);
}

std::int32_t FormMaker::add_memory(DType dtype, const std::vector<UOp>& sizes, Space space) {
  BufferArg arg;
  arg.id = fresh_id();
  arg.space = space;
  form_.memory.push_back(make(Op::Buffer, sizes, dtype, arg));
  return static_cast<std::int32_t>(form_.memory.size()) - 1;
}

UOp FormMaker::param(std::int32_t memory, Access access) const {
  const UOp& buffer = form_.memory[static_cast<std::size_t>(memory)];
  const bool is_kept = buffer->arg<BufferArg>().space == Space::Constant && !writes(access);
  std::vector<UOp> sizes;
  for (const Node* size : buffer->dims()) sizes.emplace_back(size);
  return make(Op::Param, sizes, buffer->dtype(),
              ParamArg{form_.params + memory, is_kept ? Access::Constant : access, 0});
}

UOp FormMaker::kernel(const UOp& effect, const std::vector<UOp>& loops,
                      std::string_view suffix) const {
  std::vector<UOp> src{effect};
  src.insert(src.end(), loops.begin(), loops.end());
  const Symbol name(fmt::format("{}_{}", name_.get(), suffix));
  return make(Op::Sink, {make(Op::End, src)}, {}, KernelArg{name});
}

}  // namespace weft
