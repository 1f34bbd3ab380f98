#include <weft/dev/schedule/shards.h>

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rewrite/rewriter.h>
#include <weft/dev/schedule/region.h>
#include <weft/error.h>

#include "all_reduce.h"
#include "shard_rules.h"
#include "shard_slices.h"

namespace weft {
namespace {

UOp shard_elementwise(const Match& m) {
  const auto layout = common_layout(m.root()->src());
  return layout ? apply_on_each(m.root(), *layout) : UOp();
}

// Each part of a REMAT waits for everything that the REMAT waits for.
UOp shard_remat(const Match& m) {
  const Node* again = m.root();
  const auto is_multi = [](const Node* source) { return source->op() == Op::Multi; };
  if (std::ranges::none_of(again->src(), is_multi)) return {};
  std::vector<UOp> src{UOp()};
  for (const Node* wait : again->src().subspan(1)) {
    for (const Node* part : is_multi(wait) ? wait->src() : NodeList(&wait, 1))
      src.emplace_back(part);
  }
  const auto part = [&](const Node* value) {
    src[0] = UOp(value);
    return with_sources(UOp(again), src);
  };
  const Node* value = again->src(0);
  if (!is_multi(value)) return part(value);
  return for_each_part(Layout::of(value), [&](std::size_t i) { return part(value->src(i)); });
}

UOp expand_shard(const Match& m) {
  const UOp tensor(m.root()->src(0));
  const std::int64_t axis = m.root()->arg<ShardArg>().axis;
  Layout layout(devices_of(m.root()));
  if (axis >= 0) {
    const Node* size = tensor->dims()[static_cast<std::size_t>(axis)];
    if (!size->is_const())
      user_error(fmt::format("shard: axis {} has the size {}, which has to be a number", axis,
                             expression_text(size)));
    layout = Layout(axis, size->lo(), layout.devices);
  }
  return for_each_part(layout, [&](std::size_t i) { return shard_slice(tensor, layout, i); });
}

UOp gather_copy(const Match& m) {
  const Layout there({m.root()->arg<DeviceArg>().device});
  return shard_slice(UOp(m.root()->src(0)), there, 0);
}

UOp reduced_parts(const Match& m) {
  const UOp whole(m.root()->src(0));
  const Layout layout = Layout::of(whole.node());
  const auto& arg = m.root()->arg<ReduceArg>();
  const bool is_across = std::ranges::find(arg.axes.get(), layout.axis) != arg.axes.get().end();
  const auto reduced = [&](std::size_t i) { return with_sources(UOp(m.root()), {whole.src(i)}); };
  const UOp parts = for_each_part(layout, reduced);
  if (!is_across) return parts;
  return make(Op::AllReduce, {parts}, {}, ReduceArg{arg.op, IntList({layout.axis})});
}

UOp all_reduced_parts(const Match& m) {
  const Node* multi = m.root()->src(0);
  const std::vector<UOp> parts(multi->src().begin(), multi->src().end());
  const std::vector<Symbol> devices = devices_of(multi);
  const auto* known = m.context<Collectives>();
  const auto by = known == nullptr ? AllReduceBy::Naive : known->all_reduce;
  const Op op = m.root()->arg<ReduceArg>().op;
  return Layout(devices).multi(all_reduced(op, parts, devices, by));
}

UOp member_of_list(const Match& m) {
  const Node* member = member_of(m.root());
  return member == nullptr ? UOp() : UOp(member);
}

const RuleSet& shard_op_rules() {
  static const OpSet alike{Op::Contiguous, Op::Detach};
  static const Pat parts = node(Op::Multi);
  static const RuleSet rules{"parts",
                             {
                                 rule(node(Op::Shard), expand_shard),
                                 rule(node(Op::Copy, {parts}), gather_copy),
                                 rule(node(OpSet::where(is_elementwise)), shard_elementwise),
                                 rule(node(alike), shard_elementwise),
                                 rule(node(Op::Remat), shard_remat),
                                 rule(node(Op::Reduce, {parts}), reduced_parts),
                                 rule(node(Op::AllReduce, {parts}), all_reduced_parts),
                                 rule(node(Op::GetTuple), member_of_list),
                             }};
  return rules;
}

std::vector<UOp> in_parts(const std::vector<UOp>& tensors, Arena& arena) {
  Interner& outside = Interner::current();
  const InternerScope scope(arena);
  return rewrite(import_graph(nodes_of(tensors), outside, arena), shard_rules());
}

}  // namespace

const RuleSet& shard_rules() {
  static const RuleSet rules{"shards",
                             {&call_rules(), &shard_op_rules(), &shard_movement_rules(),
                              &shard_memory_rules(), &region_rules(), &copy_rules()}};
  return rules;
}

bool has_several_devices(NodeList roots) {
  return std::ranges::any_of(toposort(roots), [](const Node* node) {
    return OpSet{Op::Copy, Op::Shard, Op::Multi}.contains(node->op());
  });
}

bool stays_in_parts(const UOp& view, const UOp& tensor) {
  Arena arena;
  const std::vector<UOp> found = in_parts({view, tensor}, arena);
  if (found[0]->op() != Op::Multi) return true;
  return std::ranges::all_of(found[0]->src(), [&](const Node* part) {
    return std::ranges::any_of(found[1]->src(),
                               [&](auto memory) { return is_view_of(part, memory); });
  });
}

Layout layout_of(const UOp& tensor) {
  Arena arena;
  const UOp found = in_parts({tensor}, arena)[0];
  return found->op() == Op::Multi ? Layout::of(found.node()) : Layout({});
}

}  // namespace weft
