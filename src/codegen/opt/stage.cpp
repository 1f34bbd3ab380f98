// STAGE: what is read is read before, into memory of the kernel's own.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/memory.h>
#include <weft/error.h>

#include "kernel_loops.h"

namespace weft {
namespace {

const Node* read_named(const Action& action, const std::vector<NamedRead>& reads) {
  std::string known;
  for (const auto& [name, load] : reads) {
    if (name == action.name) return load;
    known += " " + name;
  }
  refuse(action, "the kernel reads no such value; it reads" + known);
}

bool is_in(const std::vector<const Node*>& list, const Node* node) {
  return std::ranges::find(list, node) != list.end();
}

// A dimension for each loop inside.
UOp staged_by_loops(const Node* load, const std::vector<const Node*>& inside) {
  Substitution fresh;
  std::vector<UOp> dims{UOp()}, at{UOp(), const_bool(true)};
  for (const Node* range : inside) {
    dims.push_back(weft::range(UOp(range->src(0)), fresh_id().value));
    at.emplace_back(range);
    fresh.emplace(range, dims.back());
  }
  dims[0] = substitute(UOp(load), fresh);
  at[0] = make(Op::Stage, dims, {}, StageArg{fresh_id(), Space::Scratch, {}});
  return make(Op::Load, {make(Op::Index, at)});
}

}  // namespace

void KernelLoops::stage_all() {
  const std::vector<NamedRead> before = reads();
  for (const Action& action : stages_) stage(action, read_named(action, before));
}

void KernelLoops::stage(const Action& action, const Node* load) {
  if (!depends_on(kernel_.node(), load))
    refuse(action, "it is part of another value that is staged");
  const Node* around = action.at.empty() ? nullptr : loop(action.at);
  std::vector<const Node*> inside;
  for (const std::string& name : order_) {
    const Node* range = loop(name);
    const bool is_inside = around == nullptr || comes_before(around, range);
    if (is_inside && changes_with(load, range)) inside.push_back(range);
  }
  for (const Node* range : load->ranges())
    if (!is_in(inside, range) && around == nullptr)
      refuse(action, "it changes with a loop that has no name");
  if (inside.empty()) refuse(action, "nothing inside reads it more than once");
  if (!action.loops.empty()) {
    std::vector<const Node*> named;
    for (const std::string& name : action.loops) named.push_back(loop(name));
    if (!std::ranges::is_permutation(named, inside))
      refuse(action, "the order does not name the loops inside that it changes with, each once");
    inside = named;
  }
  for (const Node* range : inside)
    if (!range->src(0)->is_const()) refuse(action, "a size is not known before it runs");
  replace(load, staged_by_loops(load, inside));
}

}  // namespace weft
