// Random tensor programs as one kernel each, on the reference device, against computing every
// tensor for itself. WEFT_FULL=1 draws 20,000 programs, WEFT_SEED=n only the one.

#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/dev/compile/pipeline.h>
#include <weft/dev/schedule/kernel.h>
#include <weft/error.h>

#include "../support/tensor_program.h"

namespace weft {
namespace {

void check(std::uint64_t seed) {
  TensorProgram program(seed);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + program.text());
  if (program.expected().empty()) return;  // nothing to compute: no kernel

  // What is not stored on the way is computed again for every element; too much is left out.
  const std::vector<UOp> kernel =
      run_pipeline({make_kernel("k", {{program.out(), program.value()}})});
  if (most_evaluations(kernel[0].node()) > 20'000) return;
  const auto got = program.run(find_device("INTERP"), kernel[0].node());
  EXPECT_EQ(without_minus_zero(got, program.dtype()),
            without_minus_zero(program.expected(), program.dtype()))
      << print_graph("kernel", {{kernel[0].node()}});
}

TEST(Ranges, AgreeWithComputingEveryTensor) {
  const std::uint64_t programs = std::getenv("WEFT_FULL") != nullptr ? 20'000 : 2'000;
  const char* only = std::getenv("WEFT_SEED");
  std::uint64_t seed = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only != nullptr ? seed : programs;
  for (; seed <= last && !testing::Test::HasFailure(); ++seed) {
    Arena arena;
    const InternerScope scope(arena);
    try {
      check(seed);
    } catch (const Error& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n"
                    << TensorProgram(seed).text();
    }
  }
}

}  // namespace
}  // namespace weft
