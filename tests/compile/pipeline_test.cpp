#include <weft/dev/compile/pipeline.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/dev/ir/text.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>
#include <weft/settings.h>
#include <weft/tensor.h>

#include "../support/errors.h"

namespace weft {
namespace {

UOp remainder_of_a_multiple() { return range(8, 0) * 4 % 4; }

TEST(Pipeline, RunsEveryPass) {
  const UOp result = run_pipeline({remainder_of_a_multiple()})[0];
  EXPECT_TRUE(result.is(const_int(0, dtypes::i32)));
}

TEST(Pipeline, LeavesOutWhatSkipNames) {
  const UOp before = remainder_of_a_multiple();
  for (const char* list : {"ranges,simplify", "simplify,ranges"}) {
    const Context skip{{"SKIP", list}};
    EXPECT_TRUE(run_named("simplify", {before})[0].is(before));
    EXPECT_EQ(run_pipeline({before})[0]->op(), Op::FloorMod);
  }
}

TEST(Pipeline, KnowsThePassesToSkip) {
  const std::string choice = "; these can be skipped: ranges, simplify, common_reductions, ";
  const std::pair<const char*, std::string> wrong[] = {
      {"polish", "there is no pass 'polish'"},
      {"simplify,,turn", "there is no pass ''"},
      {"simplify, turn", "there is no pass ' turn'"},
      {"transpose_vectors,width", "the pass 'width' is required"},
  };
  for (const auto& [list, complaint] : wrong) {
    const Context skip{{"SKIP", list}};
    const std::string error = error_of([] { return run_pipeline({remainder_of_a_multiple()}); });
    EXPECT_TRUE(error.starts_with("SKIP=" + std::string(list) + ": " + complaint + choice))
        << error;
    EXPECT_EQ(error.find("width,"), std::string::npos) << error;
  }
}

TEST(Pipeline, KnowsThePassesToDump) {
  const Context dump{{"DUMP", "simplify,polish"}};
  for (const auto& compile : {+[] { return run_pipeline({const_int(3)}); },
                              +[] { return run_named("width", {const_int(3)}); },
                              +[] { return rewrite_tensors({const_int(3)}); }}) {
    const std::string error = error_of(compile);
    EXPECT_TRUE(
        error.starts_with("DUMP=simplify,polish: there is no pass 'polish'; there are "
                          "ranges, simplify, strip_loop, "))
        << error;
  }
}

TEST(Pipeline, FollowsTheSettingsOfTheInnermostContext) {
  const Context wrong{{"DUMP", "polish"}, {"SKIP", "polish"}};
  {
    const Context none{{"DUMP", ""}, {"SKIP", ""}};
    EXPECT_EQ(error_of([] { return run_pipeline({const_int(3)}); }), "no error");
  }
  EXPECT_NE(error_of([] { return run_pipeline({const_int(3)}); }), "no error");
}

// What is planned already is no reason to take a wrong name.
TEST(Pipeline, ChecksItsSettingsInEveryRealize) {
  const auto computed = [] { return (Tensor({1.0F, 2.0F}) * 3).to_vector<float>()[1]; };
  EXPECT_EQ(computed(), 6);
  for (const char* name : {"DUMP", "SKIP"}) {
    const Context wrong{{name, "polish"}};
    EXPECT_NE(error_of(computed).find("there is no pass 'polish'"), std::string::npos);
  }
}

// In another process, since it is read once.
TEST(Pipeline, HasNoVisualiser) {
  const auto complain = [](const char* value) {
    setenv("VIZ", value, 1);
    std::fputs(error_of([] { return run_pipeline({const_int(3)}); }).c_str(), stderr);
    std::exit(0);
  };
  EXPECT_EXIT(complain("1"), testing::ExitedWithCode(0), "^VIZ=1 in the environment: this build");
  EXPECT_EXIT(complain("0"), testing::ExitedWithCode(0), "^no error");
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
  EXPECT_TRUE(printed("ranges,simplify").starts_with("graph simplify {"));
}

}  // namespace
}  // namespace weft
