#include <weft/dev/compile/extra_rules.h>

#include <atomic>
#include <thread>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/rules/custom_op.h>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

// A rule that is wrong on purpose shows where it was applied.
std::vector<Rule> sine_is_triple() {
  static const Pat x = floats("x");
  return {rule(node(Op::Sin, {x}), x + x + x)};
}

std::vector<float> sines_of(float value, const std::string& device) {
  return Tensor(std::vector<float>{value, -value}, {.device = device}).sin().to_vector<float>();
}

class ExtraRulesOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, ExtraRulesOn, testing::Values("CPU", "INTERP"));

TEST_P(ExtraRulesOn, RewriteTensorsWhileTheyLive) {
  const auto plain = sines_of(0.5F, GetParam());
  {
    const ExtraRules added("triple", sine_is_triple());
    EXPECT_EQ(sines_of(0.5F, GetParam()), (std::vector<float>{1.5F, -1.5F}));
  }
  EXPECT_EQ(sines_of(0.5F, GetParam()), plain);
}

TEST_P(ExtraRulesOn, MayLeaveNothingToCompute) {
  static const Pat x = floats("x");
  const ExtraRules added("nothing", {rule(node(Op::Sin, {x}), x)});
  EXPECT_EQ(sines_of(0.5F, GetParam()), (std::vector<float>{0.5F, -0.5F}));
}

TEST_P(ExtraRulesOn, MayMakeOpsThatTheProgramAdds) {
  const AddedOp triple("triple", {.meaning = [](const std::vector<UOp>& x) { return x[0] * 3; }});
  static const Pat x = floats("x");
  const RewriteFunction to_triple = [](const Match& match) {
    return custom_op("triple", {match[x]});
  };
  const ExtraRules added("sine", {rule(node(Op::Sin, {x}), to_triple)});
  EXPECT_EQ(sines_of(0.5F, GetParam()), (std::vector<float>{1.5F, -1.5F}));
}

TEST_P(ExtraRulesOn, RewriteKernelsWhileTheyLive) {
  const auto plain = sines_of(0.25F, GetParam());
  for (const auto side : {ExtraRules::Before, ExtraRules::After}) {
    const ExtraRules added("triple", sine_is_triple(), side, "simplify");
    EXPECT_EQ(sines_of(0.25F, GetParam()), (std::vector<float>{0.75F, -0.75F}));
  }
  EXPECT_EQ(sines_of(0.25F, GetParam()), plain);
}

TEST(ExtraRules, RunNextToTheirPassInOrder) {
  static const Pat x = floats("x");
  const ExtraRules first("first", {rule(node(Op::Sin, {x}), node(Op::Sqrt, {x}))},
                         ExtraRules::Before, "width");
  const ExtraRules second("second", {rule(node(Op::Sqrt, {x}), -x)}, ExtraRules::After, "width");
  const ExtraRules elsewhere("elsewhere", {rule(node(Op::Sin, {x}), x)}, ExtraRules::After,
                             "width");
  Arena arena;
  const InternerScope scope(arena);
  const UOp value = make(Op::Param, std::vector<UOp>{}, dtypes::f32, ParamArg{});
  EXPECT_TRUE(run_named("width", {make(Op::Sin, {value})})[0].is(-value));
  EXPECT_EQ(run_named("simplify", {make(Op::Sin, {value})})[0]->op(), Op::Sin);
}

TEST(ExtraRules, StayWhereAPassIsSkipped) {
  const Context skip{{"SKIP", "simplify"}};
  const ExtraRules added("triple", sine_is_triple(), ExtraRules::After, "simplify");
  Arena arena;
  const InternerScope scope(arena);
  const UOp value = make(Op::Param, std::vector<UOp>{}, dtypes::f32, ParamArg{});
  EXPECT_EQ(run_named("simplify", {make(Op::Sin, {value})})[0]->op(), Op::Add);
}

TEST(ExtraRules, HaveNamesAndPlaces) {
  const ExtraRules added("triple", sine_is_triple());
  EXPECT_THROW(ExtraRules("triple", sine_is_triple()), Error);
  EXPECT_THROW(ExtraRules("late", sine_is_triple(), ExtraRules::After, "polish"), Error);
}

TEST(ExtraRules, AreReportedLikePasses) {
  const ExtraRules added("triple", sine_is_triple(), ExtraRules::Before, "width");
  const Context dump{{"DUMP", "triple"}};
  testing::internal::CaptureStderr();
  run_named("width", {make(Op::Sin, {const_float(1, dtypes::f32)})});
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(report.starts_with("graph triple {")) << report;
}

TEST(ExtraRules, ComeAndGoWhileOtherThreadsCompile) {
  std::atomic<bool> done = false;
  std::thread adding([&] {
    while (!done) const ExtraRules added("triple", sine_is_triple(), ExtraRules::Before, "width");
  });
  for (int i = 1; i < 12; ++i) {
    const auto value = static_cast<float>(i);
    const float found =
        Tensor(std::vector<float>(static_cast<std::size_t>(i), value)).sin().to_vector<float>()[0];
    EXPECT_TRUE(found == 3 * value || std::abs(found - std::sin(value)) < 1e-6F) << found;
  }
  done = true;
  adding.join();
}

}  // namespace
}  // namespace weft
