#include <weft/dev/schedule/kernel.h>

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/schedule/ranges.h>
#include <weft/error.h>

#include "fusion/iteration_domain.h"
#include "plan_steps.h"

namespace weft {

UOp make_kernel(std::string_view name, const std::vector<Output>& outputs) {
  struct Nest {
    const Node* shape;
    std::vector<UOp> loops, stores = {};
  };
  std::vector<Nest> nests;
  for (const auto& [storage, value] : outputs) {
    auto nest = std::ranges::find(nests, storage->shape(), &Nest::shape);
    if (nest == nests.end())
      nest = nests.insert(nests.end(), Nest{storage->shape(), loops_over(storage->dims())});
    if (value->shape() != nullptr && value->dims().size() != nest->loops.size())
      user_error(fmt::format("a kernel stores a tensor of {} axes in a buffer of {}",
                             value->dims().size(), nest->loops.size()));
    const UOp stored = element_in(value, nest->loops);
    const UOp target = place(storage, const_bool(true), nest->loops);
    nest->stores.push_back(make(Op::Store, {target, stored}, {}, StoreArg{}));
  }
  std::vector<UOp> effects;
  for (const Nest& nest : nests) effects.push_back(loop_nest(nest.stores, nodes_of(nest.loops)));
  return make(Op::Sink, effects, {}, KernelArg{Symbol(std::string(name))});
}

}  // namespace weft
