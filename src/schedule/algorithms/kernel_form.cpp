#include "kernel_form.h"

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/schedule/ranges.h>

#include "plan_steps.h"

namespace weft {

FormMaker::FormMaker(const UOp& kernel) : name_(kernel->arg<KernelArg>().name) {
  for (const Node* node : toposort(kernel.node()))
    if (node->op() == Op::Param)
      form_.params = std::max(form_.params, node->arg<ParamArg>().slot + 1);
}

std::int32_t FormMaker::add_memory(DType dtype, const std::vector<UOp>& sizes, Space space) {
  form_.memory.push_back(
      make(Op::Buffer, sizes, dtype, BufferArg{.id = fresh_id(), .space = space}));
  return static_cast<std::int32_t>(form_.memory.size()) - 1;
}

UOp FormMaker::param(std::int32_t memory, Access access) const {
  const UOp& buffer = form_.memory[static_cast<std::size_t>(memory)];
  const bool is_kept = buffer->arg<BufferArg>().space == Space::Constant && !writes(access);
  return make(Op::Param, sizes_of(buffer), buffer->dtype(),
              ParamArg{form_.params + memory, is_kept ? Access::Constant : access, 0});
}

UOp FormMaker::load(std::int32_t memory, const std::vector<UOp>& at) const {
  return element(param(memory, Access::Read), const_bool(true), at);
}

UOp FormMaker::store(std::int32_t memory, const std::vector<UOp>& at, const UOp& value) const {
  return make(Op::Store, {place(param(memory, Access::Write), const_bool(true), at), value}, {},
              StoreArg{});
}

UOp FormMaker::kernel(const std::vector<UOp>& stores, const std::vector<UOp>& loops,
                      std::string_view suffix) const {
  const Symbol name(fmt::format("{}_{}", name_.get(), suffix));
  return make(Op::Sink, {loop_nest(stores, nodes_of(loops))}, {}, KernelArg{name});
}

}  // namespace weft
