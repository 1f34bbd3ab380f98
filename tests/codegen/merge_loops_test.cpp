// Neighbouring loops that go along memory together are one, those that fill and read a STAGE too.

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/ir/text.h>

namespace weft {
namespace {

// "r0 285 k0 285"
std::string loops_of(const UOp& kernel) {
  const UOp ready = ready_to_schedule(kernel);
  std::string text;
  for (const auto& [name, range] : loops_of_kernel(ready.node()))
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", name, range->src(0)->lo());
  return text;
}

// What is stored at (r0, r1) of a STAGE over 15 x 19 elements, of what is read of it there less the sum of all; `place` is where
// it is read and `sum` where it is summed.
UOp centred(std::string_view place, std::string_view sum, std::string_view filled = "%8, %9") {
  return parse_node(fmt::format(R"(graph kernel {{
  %0 = const 15 : index
  %1 = const 19 : index
  %2 = const true : bool
  %3 = param %0, %1 {{slot = 0, access = write, alias = 0}} : f32
  %4 = range %0 {{id = 0, kind = loop}} : index
  %5 = range %1 {{id = 1, kind = loop}} : index
  %6 = index %3, %2, %4, %5 : f32
  %7 = param %0, %1 {{slot = 1, access = read, alias = 0}} : f32
  %8 = range %0 {{id = 2, kind = loop}} : index
  %9 = range %1 {{id = 3, kind = loop}} : index
  %10 = index %7, %2, %8, %9 : f32
  %11 = load %10 : f32
  %12 = exp2 %11 : f32
  %13 = stage %12, {} {{id = 4, space = scratch, layout = []}} : f32
  %14 = index %13, %2, {} : f32
  %15 = load %14 : f32
  %16 = range %0 {{id = 5, kind = reduce}} : index
  %17 = range %1 {{id = 6, kind = reduce}} : index
  %18 = index %13, %2, {} : f32
  %19 = load %18 : f32
  %20 = reduce %19, %16, %17 {{op = add, axes = []}} : f32
  %21 = sub %15, %20 : f32
  %22 = store %6, %21 {{combine = false, op = add}}
  %23 = end %22, %4, %5
  %24 = sink %23 {{name = "k", schedule = "", far_constants = false}}
  return %24
}})",
                                filled, place, sum));
}

TEST(MergeLoops, ThoseAlongAStage) {
  EXPECT_EQ(loops_of(centred("%4, %5", "%16, %17")), "r0 285 s0 285 k0 285");
}

// A STAGE whose dimensions lie the other way round is written apart, so that its own loops stay two, and what goes along it as
// well.
TEST(MergeLoops, NotOnesThatAStageTurns) {
  EXPECT_EQ(loops_of(centred("%5, %4", "%17, %16", "%9, %8")),
            "r0 15 r1 19 s0 19 s1 15 k0 15 k1 19");
}

}  // namespace
}  // namespace weft
