// Random tensor programs, lowered: on the reference device, and as machine code by both compilers,
// against computing every tensor for itself. WEFT_FULL=1 draws more, WEFT_SEED=n only the one.

#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/schedule/kernel.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "../support/tensor_program.h"

namespace weft {
namespace {

// Lowered for one device, run on another.
void check(std::uint64_t seed, std::string_view lowered_for, std::string_view run_on) {
  TensorProgram program(seed);
  if (program.expected().empty()) return;
  const UOp kernel = make_kernel("k", {{program.out(), program.value()}});
  if (most_evaluations(run_pipeline({kernel})[0].node()) > 20'000) return;
  const UOp lowered = run_pipeline({kernel}, {.target = find_device(lowered_for).target()})[0];
  Device& device = find_device(run_on);
  const auto got = program.run(device, lowered.node());
  EXPECT_EQ(without_minus_zero(got, program.dtype()),
            without_minus_zero(program.expected(), program.dtype()))
      << program.text() << print_graph("kernel", {{lowered.node()}})
      << device.render(lowered.node());
}

void check_all(std::uint64_t programs, std::string_view lowered_for, std::string_view run_on) {
  if (std::getenv("WEFT_FULL") != nullptr) programs *= 20;
  const char* only = std::getenv("WEFT_SEED");
  std::uint64_t seed = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only != nullptr ? seed : programs;
  for (; seed <= last && !testing::Test::HasFailure(); ++seed) {
    Arena arena;
    const InternerScope scope(arena);
    SCOPED_TRACE("seed " + std::to_string(seed));
    try {
      check(seed, lowered_for, run_on);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << TensorProgram(seed).text();
    }
  }
}

TEST(Lowering, KeepsWhatTheReferenceComputes) { check_all(1000, "NULL", "INTERP"); }

TEST(Lowering, IsRightForTheCpu) { check_all(300, "CPU", "CPU"); }

TEST(Lowering, IsRightForTheCpuByWayOfC) {
  const Context clang{{"CLANG", 1}};
  check_all(30, "CPU", "CPU");
}

}  // namespace
}  // namespace weft
