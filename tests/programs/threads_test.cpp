// Threads that build and run programs at the same time: graphs of their own and equal ones, for which
// they share nodes, plans and compiled kernels.

#include <mutex>

#include <gtest/gtest.h>

#include "../support/threads.h"
#include "check.h"
#include "random.h"

namespace weft {
namespace {

constexpr int threads = 4;
constexpr Variant variants[] = {
    {.name = "CPU", .device = "CPU"},
    {.name = "reference, step by step", .device = "INTERP", .realize_each = true},
};

// Every thread runs the programs that it is told, `rounds` of them, and finds no fault.
template <class SeedOf>
void check(std::uint64_t rounds, SeedOf seed_of) {
  std::mutex mutex;
  std::string faults;
  in_threads(threads, [&](int thread) {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const Script program = random_program(seed_of(static_cast<std::uint64_t>(thread), round));
      Expected expected(program);
      const auto fault = find_fault(program, expected, variants);
      const std::lock_guard lock(mutex);
      if (fault) faults += report(program, *fault) + "\n";
    }
  });
  EXPECT_EQ(faults, "");
}

TEST(ProgramThreads, RunEqualProgramsAtTheSameTime) {
  check(8, [](std::uint64_t, std::uint64_t round) { return 7000 + round; });
}

TEST(ProgramThreads, RunEachItsOwn) {
  check(8, [](std::uint64_t thread, std::uint64_t round) { return 7100 + 10 * thread + round; });
}

// What one thread runs first, another finds made.
TEST(ProgramThreads, MeetInBetween) {
  check(12,
        [](std::uint64_t thread, std::uint64_t round) { return 7200 + (round + 3 * thread) % 6; });
}

}  // namespace
}  // namespace weft
