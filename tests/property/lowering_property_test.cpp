// Random tensor programs, lowered: on the reference device, and as machine code by both compilers,
// against computing every tensor for itself. WEFT_FULL=1 draws more, WEFT_SEED=n only the one.

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/schedule/kernel.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "../support/tensor_program.h"

namespace weft {
namespace {

struct Trial {
  std::uint64_t programs;
  std::string_view lowered_for, run_on;
  std::int64_t largest = 5;  // of the axes
  int vectors = 0;           // of the kernels that ran
  double tolerance = 0;      // of sums in another order
};

bool are_close(Bits a, Bits b, DType dtype, double tolerance) {
  if (a == b || !dtype.is_float()) return a == b;
  const double x = double_from_bits(a, dtype), y = double_from_bits(b, dtype);
  return (std::isnan(x) && std::isnan(y)) ||
         std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y));
}

// Lowered for one device, run on another.
void check(std::uint64_t seed, Trial& trial) {
  TensorProgram program(seed, trial.largest);
  if (program.expected().empty() || program.expected().size() > 20'000) return;
  const UOp kernel = make_kernel("k", {{program.out(), program.value()}});
  if (most_evaluations(run_pipeline({kernel})[0].node()) > 20'000) return;
  const UOp lowered =
      run_pipeline({kernel}, {.target = find_device(trial.lowered_for).target()})[0];
  for (const Node* node : toposort(lowered.node()))
    trial.vectors += node->op() == Op::Store && node->src(1)->dtype().lanes() > 1;
  Device& device = find_device(trial.run_on);
  const auto got = without_minus_zero(program.run(device, lowered.node()), program.dtype());
  const auto expected = without_minus_zero(program.expected(), program.dtype());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(are_close(got[i], expected[i], program.dtype(), trial.tolerance))
        << "element " << i << ": " << double_from_bits(got[i], program.dtype()) << ", not "
        << double_from_bits(expected[i], program.dtype()) << "\n"
        << program.text() << print_graph("kernel", {{lowered.node()}})
        << device.render(lowered.node());
}

void check_all(Trial& trial) {
  if (std::getenv("WEFT_FULL") != nullptr) trial.programs *= 20;
  const char* only = std::getenv("WEFT_SEED");
  std::uint64_t seed = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only != nullptr ? seed : trial.programs;
  for (; seed <= last && !testing::Test::HasFailure(); ++seed) {
    Arena arena;
    const InternerScope scope(arena);
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      check(seed, trial);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << TensorProgram(seed, trial.largest).text();
    }
  }
}

TEST(Lowering, KeepsWhatTheReferenceComputes) {
  Trial trial{.programs = 1000, .lowered_for = "NULL", .run_on = "INTERP"};
  check_all(trial);
}

TEST(Lowering, IsRightForTheCpu) {
  const Context plain{{"NOOPT", 1}};
  Trial trial{.programs = 200, .lowered_for = "CPU", .run_on = "CPU"};
  check_all(trial);
}

TEST(Lowering, IsRightForTheCpuByWayOfC) {
  const Context clang{{"CLANG", 1}};
  Trial trial{.programs = 20, .lowered_for = "CPU", .run_on = "CPU"};
  check_all(trial);
}

TEST(Lowering, IsRightInVectors) {
  if (find_device("CPU").target().vector_bytes == 0) GTEST_SKIP() << "built without LLVM";
  for (const char* device : {"CPU", "INTERP"}) {
    Trial trial{
        .programs = 200, .lowered_for = "CPU", .run_on = device, .largest = 40, .tolerance = 1e-5};
    check_all(trial);
    EXPECT_TRUE(trial.vectors > 20 || std::getenv("WEFT_SEED") != nullptr) << trial.vectors;
  }
}

}  // namespace
}  // namespace weft
