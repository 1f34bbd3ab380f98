// VALIDATE=2: kernels are interpreted before and after each pass, and a pass that changes what they compute is named.

#include <weft/dev/compile/extra_rules.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/ir/text.h>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

class Validation : public testing::Test {
 protected:
  const Context checked_{{"VALIDATE", 2}, {"CACHE_DIR", "none"}};
};

std::string complaint(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// For a device and a place in the pipeline.
std::string complaint_about(const Rule& wrong, const char* device, std::string_view pass,
                            const std::function<Tensor(const Tensor&)>& f) {
  const ExtraRules added("wrong", {wrong}, ExtraRules::After, pass);
  const Tensor x = Tensor::arange(12, {.device = device}).to_float().reshape({3, 4}).contiguous();
  return complaint([&] { f(x.realize()).realize(); });
}

TEST_F(Validation, NamesRulesThatChangeWhatAKernelComputes) {
  static const Pat x = floats("x");
  const Rule sine = rule(node(Op::Sin, {x}), x + x);
  const auto text = complaint_about(sine, "CPU", "simplify", [](auto& t) { return t.sin(); });
  EXPECT_NE(text.find("wrong changed what kernel e_3_4 computes"), std::string::npos) << text;
  EXPECT_NE(text.find("argument 0"), std::string::npos) << text;
}

TEST_F(Validation, SeesWhatChangesWithInfinityAlone) {
  static const Pat x = floats("x");
  const Rule zero = rule(node(Op::Mul, {x, x}), x * (x - x + x));
  const auto text = complaint_about(zero, "INTERP", "simplify", [](auto& t) { return t * t; });
  EXPECT_NE(text.find("of infinities"), std::string::npos) << text;
}

TEST_F(Validation, ChecksAfterEveryPass) {
  static const Pat x = floats("x");
  const Rule root = rule(node(Op::Sqrt, {x}), x);
  for (const Pass& pass : all_passes()) {
    SCOPED_TRACE(pass.name);
    const auto text =
        complaint_about(root, "CPU", pass.name, [](auto& t) { return t.sqrt().sum(1); });
    EXPECT_NE(text.find("wrong"), std::string::npos) << text;
  }
}

TEST_F(Validation, FindsNothingWrongWithTheCompiler) {
  const Tensor x = Tensor::arange(60).to_float().reshape({3, 4, 5}).realize();
  const Tensor image = Tensor::arange(2 * 6 * 7).to_float().reshape({1, 2, 6, 7}).realize();
  const Tensor weights = Tensor::arange(36).to_float().reshape({2, 2, 3, 3}).realize();
  for (const Tensor& y : std::vector<Tensor>{
           x.softmax(-1), x.cumsum(1).max(2), x.permute({2, 0, 1}).matmul(x.permute({2, 1, 0})),
           image.conv2d(weights, {}, {.padding = {1, 1}}).relu(), x.argmax(1),
           Tensor({1, 2, 3}).realize().cumsum(0), x.sort(1).values, x[{Tensor({2, 0})}],
           x.to(dtypes::f16).exp(), x.exp().log().to(dtypes::f64).exp()})
    EXPECT_EQ(complaint([&] { Tensor(y).realize(); }), "");
}

}  // namespace
}  // namespace weft
