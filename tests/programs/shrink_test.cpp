// A device with a fault is found out, by a program that shows the fault and nothing else.

#include <algorithm>

#include <gtest/gtest.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>

#include "check.h"
#include "random.h"
#include "shrink.h"

namespace weft {
namespace {

// The reference, but takes a sine for the angle: no other op has a sine in it.
class Faulty final : public Device {
 public:
  std::string_view name() const override { return "FAULTY"; }
  Allocator& allocator() override { return reference_.allocator(); }
  std::string render(const Node* kernel) override {
    UOp wrong(kernel);
    for (;;) {
      const auto order = toposort(wrong.node());
      const auto sine = std::ranges::find(order, Op::Sin, &Node::op);
      if (sine == order.end()) return reference_.render(wrong.node());
      wrong = substitute(wrong, {{*sine, UOp((*sine)->src(0))}});
    }
  }
  std::string compile(std::string_view source) override { return reference_.compile(source); }
  std::string compiler_key() const override { return "faulty"; }
  std::unique_ptr<Program> load(std::string_view code) override { return reference_.load(code); }

 private:
  Device& reference_ = find_device("INTERP");
};

constexpr Variant reference[] = {{.name = "reference", .device = "INTERP"}};
constexpr Variant faulty[] = {{.name = "faulty", .device = "FAULTY"}};

std::optional<Fault> fault_of(const Script& program, std::span<const Variant> variants) {
  Expected expected(program);
  return find_fault(program, expected, variants);
}

TEST(Shrink, LeavesTheOpThatIsWrong) {
  add_device("FAULTY", "takes a sine for the angle",
             [](int) { return std::make_unique<Faulty>(); });
  int found = 0;
  for (std::uint64_t seed = 1; found < 4; ++seed) {
    ASSERT_LT(seed, 200u);
    const Script program = random_program(seed);
    if (!fault_of(program, faulty)) continue;
    ++found;
    const Script small = shrink(
        program, [](const Script& candidate) { return fault_of(candidate, faulty).has_value(); });
    EXPECT_FALSE(fault_of(small, reference));
    const auto fault = fault_of(small, faulty);
    ASSERT_TRUE(fault);
    const std::string text = report(small, *fault);
    EXPECT_EQ(small.outputs.size(), 1u) << text;
    EXPECT_EQ(
        std::ranges::count_if(small.code, [](const auto& line) { return line.op != nullptr; }), 1)
        << text;
    for (const Instruction& line : small.code) EXPECT_LE(line.values.size(), 3u) << text;
    EXPECT_NE(text.find("{\"DEV\", \"FAULTY\"}"), std::string::npos) << text;
  }
}

Instruction input(const Numbers& sizes, const std::vector<std::uint64_t>& values) {
  return {
      .op = nullptr, .operands = {}, .with = {.n = sizes, .dtype = dtypes::i32}, .values = values};
}

const ProgramOp& op(std::string_view text) {
  return *std::ranges::find(program_ops(), text, &ProgramOp::text);
}

// Whatever else there is goes: here the fault is a value of 7 in the first output.
TEST(Shrink, DropsOutputsInstructionsAndSizes) {
  Script program{{input({2, 3}, {1, 2, 3, 7, 5, 6}), input({3}, {4, 5, 6})}, {3, 2}};
  program.code.push_back({.op = &op("x + y"), .operands = {0, 1}});
  program.code.push_back({.op = &op("x.flip(n)"), .operands = {0}, .with = {.n = {0}}});
  const Script small = shrink(program, [](const Script& candidate) {
    const Expected expected(candidate);
    return std::ranges::count(expected.value(candidate.outputs[0]).values, Bits{7}) > 0;
  });
  ASSERT_EQ(small.code.size(), 1u);
  EXPECT_EQ(small.code[0].op, nullptr);
  EXPECT_EQ(small.code[0].with.n, (Numbers{1, 1}));
  EXPECT_EQ(small.code[0].values, (std::vector<std::uint64_t>{7}));
  EXPECT_EQ(small.outputs, (std::vector<std::size_t>{0}));
}

TEST(Shrink, PrintsWhatCompiles) {
  Script program{{input({2}, {1, 2}), input({1}, {7})}, {2, 3}};
  program.code.push_back({.op = &op("x.pad(bounds, 2)"), .operands = {0}, .with = {.n = {0, 1}}});
  program.code.push_back({.op = &op("x.slice(i, Slice{j, k}).assign(y)"),
                          .operands = {0, 1},
                          .with = {.n = {}, .k = 1}});
  EXPECT_EQ(cpp_text(program, {"{\"DEV\", \"CPU\"}"}), R"(#include <cmath>
#include <iostream>

#include <weft/weft.h>

using namespace weft;
using Numbers = std::vector<std::int64_t>;

int main() {
  const Context context{{"DEV", "CPU"}};
  Tensor v0 = Tensor(std::vector<std::int64_t>{1, 2}, {.dtype = dtypes::i32}).reshape(Numbers{2}).realize();
  Tensor v1 = Tensor(std::vector<std::int64_t>{7}, {.dtype = dtypes::i32}).reshape(Numbers{1}).realize();
  Tensor v2 = v0.pad(Tensor::Bounds{{0, 1}}, 2);
  Tensor v3 = v0.slice(0, Slice{0, 1}).assign(v1);
  Tensor::realize({v2, v3});
  std::cout << v2.repr() << "\n";
  std::cout << v3.repr() << "\n";
}
)");
}

}  // namespace
}  // namespace weft
