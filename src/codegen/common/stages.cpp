// Lowers STAGE to a buffer inside the kernel and loops that fill it. A first step applies the
// layout to each STAGE and to the INDEXes that read it. The second step then only meets STAGEs
// whose ranges are in the order of the buffer's dimensions.

#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>

namespace weft {
namespace {

// Returns the sources with those after the first `first` in the order of the layout.
std::vector<UOp> laid_out(NodeList src, std::size_t first,
                          const std::vector<std::int64_t>& layout) {
  std::vector<UOp> result;
  for (std::size_t i = 0; i < first; ++i) result.emplace_back(src[i]);
  for (std::int64_t dimension : layout)
    result.emplace_back(src[first + static_cast<std::size_t>(dimension)]);
  return result;
}

UOp lay_out(const Match& m) {
  const Node *index = m.root(), *stage = index->src(0);
  StageArg arg = stage->arg<StageArg>();
  const std::vector<std::int64_t> layout = arg.layout.get();
  if (layout.empty()) return {};
  arg.layout = {};
  std::vector<UOp> src = laid_out(index->src(), 2, layout);
  src[0] = make(Op::Stage, laid_out(stage->src(), 1, layout), {}, arg);
  return make(Op::Index, src);
}

// A STAGE is refilled in each iteration of the loops around it.
UOp fill(const Match& m) {
  const Node* stage = m.root();
  const Space space = stage->arg<StageArg>().space;
  if (stage->dtype().is_void() || (space != Space::Scratch && space != Space::Register))
    user_error("a kernel stages values in scratch or registers, neither lists nor global memory");
  std::vector<UOp> dims, at{UOp(), const_bool(true)}, loops{UOp()}, iterations{UOp()};
  for (const Node* range : stage->src().subspan(1)) {
    const bool is_loop = range->op() == Op::Range;
    dims.push_back(is_loop ? UOp(range->src(0)) : const_int(1));
    at.emplace_back(range);
    if (is_loop) loops.emplace_back(range);
  }
  const UOp buffer = make(Op::Buffer, dims, stage->dtype(), BufferArg{fresh_id(), space});
  iterations[0] = at[0] = buffer;
  for (const Node* range : stage->ranges()) iterations.emplace_back(range);
  if (iterations.size() > 1) at[0] = make(Op::After, iterations);
  loops[0] = make(Op::Store, {make(Op::Index, at), UOp(stage->src(0))}, {}, StoreArg{});
  return make(Op::After, {buffer, loops.size() > 1 ? make(Op::End, loops) : loops[0]});
}

const RuleSet& layout_rules() {
  static const RuleSet rules{"layout",
                             {rule(with_more(node(Op::Index, {node(Op::Stage)})), lay_out)}};
  return rules;
}

}  // namespace

const RuleSet& stages_rules() {
  static const RuleSet rules{"stages", {rule(node(Op::Stage), fill)}};
  return rules;
}

std::vector<UOp> stages(const std::vector<UOp>& roots, const RewriteOptions& options) {
  RewriteOptions first = options;
  first.order = Order::TopDown;
  return rewrite(rewrite(roots, layout_rules(), first), stages_rules(), options);
}

}  // namespace weft
