// What a program of somebody else's looks like: it sees weft as installed. It adds an op and a rule, and
// prints the version where both do what they should.
#include <weft/dev/compile/extra_rules.h>
#include <weft/dev/rules/custom_op.h>
#include <weft/weft.h>

#include <iostream>

namespace {

// The gradient follows from what the op means, and the rule applies to the gradient as well.
bool can_extend_the_compiler() {
  const weft::AddedOp square(
      "square", {.meaning = [](const std::vector<weft::UOp>& x) { return x[0] * x[0]; }});
  static const weft::Pat x = weft::floats("x");
  const weft::ExtraRules doubling("doubling", {weft::rule(x + x, x * 2)});
  const weft::Tensor a({1.0, 2.0, 3.0});
  const weft::Tensor y = weft::Tensor::custom("square", {a});
  const weft::Tensor slope = y.sum().gradient({a})[0];
  return slope.to_vector<float>() == std::vector<float>{2, 4, 6} &&
         y.to_vector<float>() == std::vector<float>{1, 4, 9};
}

}  // namespace

int main() {
  if (!can_extend_the_compiler()) return 1;
  std::cout << weft::version() << '\n';
}
