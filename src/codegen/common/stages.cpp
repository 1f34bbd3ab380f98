// Lowers STAGE to a buffer inside the kernel and loops that fill it. A first step applies the
// layout to each STAGE and to the INDEXes that read it. The second step then only meets STAGEs
// whose ranges are in the order of the buffer's dimensions.

#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>

namespace weft {
namespace {

// Returns the sources with those after the first `first` in the order of the layout.
std::vector<UOp> laid_out(NodeList src, std::size_t first,
                          const std::vector<std::int64_t>& layout) {
  std::vector<UOp> result = list_of(src.first(first));
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
  const std::vector<UOp> at = list_of(stage->src().subspan(1));
  std::vector<UOp> dims, loops;
  for (const UOp& range : at) {
    const bool is_loop = range->op() == Op::Range;
    dims.push_back(is_loop ? range.src(0) : const_int(1));
    if (is_loop) loops.push_back(range);
  }
  const UOp buffer = make(Op::Buffer, dims, stage->dtype(), BufferArg{fresh_id(), space});
  const UOp refilled = with_list(Op::After, buffer, list_of(stage->ranges()));
  const UOp filled = store_at(place_in(refilled, at), UOp(stage->src(0)));
  return make(Op::After, {buffer, with_list(Op::End, filled, loops)});
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
