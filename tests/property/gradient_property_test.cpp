// Gradients of random tensor programs, and their gradients, against finite differences.
// WEFT_FULL=1 draws 20,000 programs, WEFT_SEED=n only the one.

#include <cstdlib>

#include <weft/error.h>

#include "../support/finite_differences.h"
#include "../support/random_smooth.h"

namespace weft {
namespace {

struct Tally {
  int compared = 0, moving = 0, skipped = 0;
};

void check(std::uint64_t seed, Tally& tally) {
  RandomSmooth tensors(seed);
  const UOp value = tensors.program(4 + static_cast<int>(seed % 20));
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print_graph("program", {{value.node()}}));
  FiniteDifferences point(seed);
  for (const UOp& input : tensors.inputs())
    if (depends_on(value.node(), input.node())) point.set_random(input, -1.5, 1.5);
  if (!point.is_finite(value)) return;  // the maximum of nothing is -inf
  const std::vector<UOp> first = point.check(value, 8);
  if (first.empty()) return;
  SCOPED_TRACE("second derivative");
  point.check(first[seed % first.size()], 4);
  tally.compared += point.compared();
  tally.moving += point.moving();
  tally.skipped += point.skipped();
}

TEST(Gradient, AgreesWithFiniteDifferences) {
  const std::uint64_t programs = std::getenv("WEFT_FULL") != nullptr ? 20'000 : 500;
  const char* only = std::getenv("WEFT_SEED");
  std::uint64_t seed = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only != nullptr ? seed : programs;
  Tally tally;
  for (; seed <= last && !testing::Test::HasFailure(); ++seed) {
    Arena arena;
    const InternerScope scope(arena);
    try {
      check(seed, tally);
    } catch (const Error& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what();
    }
  }
  if (only == nullptr) {
    EXPECT_GT(tally.compared, 9 * tally.skipped);
    EXPECT_GT(2 * tally.moving, tally.compared) << "most slopes are 0";
  }
  RecordProperty("compared", tally.compared);
  RecordProperty("moving", tally.moving);
  RecordProperty("skipped", tally.skipped);
}

}  // namespace
}  // namespace weft
