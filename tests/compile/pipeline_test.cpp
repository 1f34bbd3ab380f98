#include <weft/dev/compile/pipeline.h>

#include <gtest/gtest.h>

#include <weft/dev/ir/text.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>
#include <weft/settings.h>

namespace weft {
namespace {

UOp remainder_of_a_multiple() { return range(8, 0) * 4 % 4; }

TEST(Pipeline, RunsEveryPass) {
  const UOp result = run_pipeline({remainder_of_a_multiple()})[0];
  EXPECT_TRUE(result.is(const_int(0, dtypes::i32)));
}

TEST(Pipeline, LeavesOutWhatSkipNames) {
  const UOp before = remainder_of_a_multiple();
  const Context skip{{"SKIP", "ranges,simplify"}};
  EXPECT_TRUE(run_named("simplify", {before})[0].is(before));
  EXPECT_EQ(run_pipeline({before})[0]->op(), Op::FloorMod);
  const Context all{{"SKIP", "width,simplify,ranges"}};
  EXPECT_TRUE(run_pipeline({before})[0].is(before));
}

TEST(Pipeline, KnowsThePassesToSkip) {
  for (const char* list : {"polish", "simplify,,width", "simplify, width"}) {
    const Context skip{{"SKIP", list}};
    EXPECT_THROW(run_pipeline({remainder_of_a_multiple()}), Error) << list;
  }
}

TEST(Pipeline, ReportsTimeAndSize) {
  const Context loud{{"DEBUG", 3}};
  testing::internal::CaptureStderr();
  run_named("simplify", {remainder_of_a_multiple()});
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(report.starts_with("// simplify: ")) << report;
  EXPECT_TRUE(report.ends_with(" ms, 5 nodes -> 1\n")) << report;
}

TEST(Pipeline, PrintsTheGraphThatIsAskedForThoughItIsAsBefore) {
  const auto printed = [](const char* pass) {
    const Context context{{"DUMP", pass}};
    testing::internal::CaptureStderr();
    run_named("simplify", {const_int(3)});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_TRUE(printed("simplify").starts_with("graph simplify {")) << printed("simplify");
  EXPECT_EQ(printed("ranges"), "");
}

}  // namespace
}  // namespace weft
