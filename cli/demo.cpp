#include <fmt/core.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/schedule/ranges.h>
#include <weft/dev/validate/bounds.h>

#include "commands.h"

namespace weft::cli {
namespace {

UOp reshape(const UOp& x, std::initializer_list<std::int64_t> shape) {
  return make(Op::Reshape, {x, sizes(shape)});
}
UOp expand(const UOp& x, std::initializer_list<std::int64_t> shape) {
  return make(Op::Expand, {x, sizes(shape)});
}
UOp shrink(const UOp& x, std::initializer_list<std::int64_t> shape) {
  std::vector<UOp> start(shape.size(), const_int(0));
  return make(Op::Shrink, {x, tuple(start), sizes(shape)});
}

// The windows of a 3x3 convolution: 64 channels of 56x56, padded by 1. Movement ops alone: rows
// repeated and cut one longer than they are slide by one for each row and column of the window.
UOp windows() {
  const UOp image = make(Op::Param, {const_int(64), const_int(56), const_int(56)}, dtypes::f32,
                         ParamArg{0, Access::Read, 0});
  const UOp padded = make(Op::Pad, {image, sizes({0, 1, 1}), sizes({0, 1, 1})});
  UOp x = expand(reshape(padded, {64, 1, 58, 1, 58}), {64, 4, 58, 4, 58});
  x = shrink(reshape(x, {64, 4 * 58, 4 * 58}), {64, 3 * 59, 3 * 59});
  x = shrink(reshape(x, {64, 3, 59, 3, 59}), {64, 3, 56, 3, 56});
  return make(Op::Permute, {x}, {}, AxesArg{IntList({0, 1, 3, 2, 4})});  // channel, ky, kx, y, x
}

// What the innermost loop of the convolution reads, its pixels in one loop.
UOp convolution_read() {
  const UOp channel = range(64, 0, LoopKind::Reduce), pixel = range(3136, 1);
  const UOp ky = range(3, 2, LoopKind::Reduce), kx = range(3, 3, LoopKind::Reduce);
  return element(reshape(windows(), {64, 3, 3, 3136}), const_bool(true), {channel, ky, kx, pixel});
}

void show(std::string_view title, const UOp& load) {
  fmt::print("== {}\n", title);
  const UOp index = load.src(0);
  if (index.src(0)->op() == Op::Param) {
    fmt::print("read   {}[", expression_text(index->src(0)));
    for (std::size_t i = 2; i < index->size(); ++i)
      fmt::print("{}{}", i > 2 ? ", " : "", expression_text(index->src(i)));
    fmt::print("]\nwhere  {}\n", expression_text(index->src(1)));
  }
  const Node* root = load.node();
  fmt::print("\n{}\n", print_graph("read", NodeList(&root, 1), {.renumber = true}));
}

}  // namespace

void run_demo() {
  Arena arena;
  const InternerScope scope(arena);
  std::vector<UOp> roots{convolution_read()};
  show("as written", roots[0]);
  for (const Pass& pass : all_passes()) {
    if (pass.when == Pass::Lowering) continue;  // of whole kernels
    const UOp before = roots[0];
    roots = run_pass(pass, roots);
    const std::string title = fmt::format("after {}: {}", pass.name, pass.meaning);
    if (roots[0].is(before))
      fmt::print("== {}\n(unchanged)\n\n", title);
    else
      show(title, roots[0]);
  }
  const Node* root = roots[0].node();
  for (const IndexProof& proof : prove_indices(NodeList(&root, 1), 10000))
    fmt::print("The index is {} its buffer for all values of the ranges.\n",
               proof.proof.verdict == Verdict::Proved ? "proved to lie inside"
                                                      : "not proved to lie inside");
}

}  // namespace weft::cli
