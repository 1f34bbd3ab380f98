#include <fmt/core.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/validate/bounds.h>

#include "commands.h"

namespace weft::cli {
namespace {

// The read of a 3x3 convolution's input: 64 channels of 56x56, padding 1, the output's rows and
// columns in one loop, and the buffer flat. Written as movement ops leave it: every reshape
// flattens its indices and takes them apart again.
UOp convolution_read() {
  const UOp channel = range(64, 0, LoopKind::Reduce), pixel = range(3136, 1);
  const UOp ky = range(3, 2, LoopKind::Reduce), kx = range(3, 3, LoopKind::Reduce);
  const UOp y = pixel / 56 % 56 + ky, x = pixel % 56 + kx;  // in the padded 58x58 image
  const UOp inside = ((y >= 1) & (y < 57)) & ((x >= 1) & (x < 57));
  const UOp flat = (channel * 56 + (y - 1)) * 56 + (x - 1);
  const UOp input = make(Op::Param, {const_int(200704)}, dtypes::f32, ParamArg{0, Access::Read, 0});
  const UOp split = (flat / (56 * 56) % 64 * 56 + flat / 56 % 56) * 56 + flat % 56;
  return make(Op::Load, {make(Op::Index, {input, inside, split})});
}

void show(std::string_view title, const UOp& load) {
  const UOp index = load.src(0);
  fmt::print("== {}\n", title);
  fmt::print("index  {}\nwhere  {}\n\n", expression_text(index->src(2)),
             expression_text(index->src(1)));
  const Node* root = load.node();
  fmt::print("{}\n", print_graph("read", NodeList(&root, 1), {.renumber = true}));
}

}  // namespace

void run_demo() {
  Arena arena;
  const InternerScope scope(arena);
  std::vector<UOp> roots{convolution_read()};
  show("as written", roots[0]);
  for (const Pass& pass : all_passes()) {
    roots = run_pass(pass, roots);
    show(fmt::format("after {}: {}", pass.name, pass.meaning), roots[0]);
  }
  const Node* root = roots[0].node();
  for (const IndexProof& proof : prove_indices(NodeList(&root, 1), 10000))
    fmt::print("The index is {} its buffer for all values of the ranges.\n",
               proof.proof.verdict == Verdict::Proved ? "proved to lie inside"
                                                      : "not proved to lie inside");
}

}  // namespace weft::cli
