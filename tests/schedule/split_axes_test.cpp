// Sums along what was joined of blocks: an axis for each part, and the same values.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/engine/schedule.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/weft.h>

#include "../../src/schedule/graph/split_axes.h"

namespace weft {
namespace {

constexpr std::int64_t rows = 5, blocks = 3, size = 16;

Tensor filled(const std::vector<std::int64_t>& sizes, double step) {
  std::int64_t elements = 1;
  for (const std::int64_t each : sizes) elements *= each;
  return (Tensor::arange(elements) * step).sin().reshape(sizes).contiguous().realize();
}

std::size_t axes_of_sum(const std::vector<UOp>& tensors) {
  std::size_t most = 0;
  for (const Node* node : toposort(nodes_of(tensors)))
    if (node->op() == Op::Reduce) most = std::max(most, node->arg<ReduceArg>().axes.get().size());
  return most;
}

struct Case {
  const char* name;
  Tensor (*weight)(const Tensor& codes, const Tensor& scales);
  std::size_t axes;  // that are summed along in the end
};

TEST(PartedSums, BlocksBecomeAxes) {
  const Tensor codes =
      (filled({rows, blocks, size}, 0.7) * 3).cast(dtypes::i8).contiguous().realize();
  const Tensor scales = filled({rows, blocks, 1}, 1.3);
  const Tensor x = filled({1, blocks * size}, 0.3);
  const Case cases[] = {
      {"a scale for each block",
       [](const Tensor& a, const Tensor& s) { return (a * s).flatten(1); }, 2},
      {"blocks of their own rows",
       [](const Tensor& a, const Tensor& s) {
         const Tensor flat = a.reshape({rows * blocks, size}) * s.reshape({rows * blocks, 1});
         return flat.reshape({rows, blocks * size});
       },
       2},
      {"scales of parts of blocks",
       [](const Tensor& a, const Tensor& s) {
         const Tensor halves =
             a.reshape({rows, blocks, 2, size / 2}) * Tensor::cat({s, s + 1}, 2).unsqueeze(-1);
         return (halves.flatten(2).exp() * s).flatten(1);
       },
       3},
      {"no scales", [](const Tensor& a, const Tensor&) { return a.exp().flatten(1); }, 1},
      {"a scale for each row",
       [](const Tensor& a, const Tensor& s) {
         return a.flatten(1) * s.slice(1, {0, 1}).flatten(1);
       },
       1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Tensor value = (x * c.weight(codes.cast(dtypes::f32), scales)).sum(1);
    EXPECT_EQ(axes_of_sum(with_axes_split({value.uop()})), c.axes);
    EXPECT_EQ(value.schedule().size(), 1u);
    const auto exact = [](const Tensor& tensor) { return tensor.to("INTERP").cast(dtypes::f64); };
    const Tensor expected = (exact(x) * c.weight(exact(codes), exact(scales))).sum(1);
    EXPECT_LT((value.to("INTERP") - expected).abs().max().item<double>(), 1e-4);
  }
}

// Of which two are in a byte: what is for a block is EXPANDed to all of it.
TEST(PartedSums, OffsetsOfBlocksAreUnpackedWithinTheirOwnAxes) {
  constexpr std::int64_t pairs = 4;
  const Tensor codes = (Tensor::arange(rows * 2 * pairs * size) * 7 % 16)
                           .cast(dtypes::u8)
                           .reshape({rows, 2 * pairs, size})
                           .contiguous()
                           .realize();
  const Tensor packed =
      (Tensor::arange(rows * pairs) * 37 % 256).cast(dtypes::u8).contiguous().realize();
  const Tensor x = filled({1, 2 * pairs * size}, 0.3);
  const auto product = [&](const std::string& device, DType dtype) {
    const Tensor shifts = Tensor::arange(2, {.dtype = dtypes::u8, .device = device}) * 4;
    const Tensor both = (packed.to(device).reshape({rows, pairs, 1}) >> shifts) & 15;
    const Tensor zeros = both.flatten(1).unsqueeze(-1).cast(dtype);
    const Tensor weight = (codes.to(device).cast(dtype) - zeros).flatten(1);
    return (x.to(device).cast(dtype) * weight).sum(1);
  };
  const Tensor value = product(x.device(), dtypes::f32);
  EXPECT_EQ(axes_of_sum(with_axes_split({value.uop()})), 3u);
  const std::vector<ScheduleItem> kernels = value.schedule();
  ASSERT_EQ(kernels.size(), 1u);
  const UOp ranged = run_named("simplify", run_named("ranges", {kernels[0].kernel}))[0];
  constexpr OpSet divides{Op::CDiv, Op::CMod, Op::FloorDiv, Op::FloorMod};
  for (const Node* node : toposort(ranged.node()))
    EXPECT_FALSE(divides.contains(node->op())) << print_graph("kernel", {{ranged.node()}});
  const Tensor expected = product("INTERP", dtypes::f64);
  EXPECT_LT((value.to("INTERP") - expected).abs().max().item<double>(), 1e-4);
}

// Each step uses the one before three times: on all ways down it would be met more often than can be counted.
TEST(PartedSums, WhatIsSharedIsTakenApartOnce) {
  const Tensor codes = filled({rows, blocks, size}, 0.7).cast(dtypes::i8).contiguous().realize();
  Tensor weight = (codes.cast(dtypes::f32) * filled({rows, blocks, 1}, 1.3)).flatten(1);
  for (int step = 0; step < 40; ++step) weight = (weight * 0.5 + weight.sin()) * weight;
  const Tensor value = (filled({1, blocks * size}, 0.3) * weight).sum(1);
  EXPECT_EQ(axes_of_sum(with_axes_split({value.uop()})), 2u);
}

TEST(PartedSums, OthersStayAsTheyAre) {
  const Tensor x = filled({rows, blocks, size}, 0.7), scales = filled({rows, blocks, 1}, 1.3);
  for (const Tensor& value : {x.flatten(1).exp().sum(1), (x * scales).flatten(1).sum(1)})
    EXPECT_EQ(with_axes_split({value.uop()})[0].node(), value.uop().node());
}

}  // namespace
}  // namespace weft
