// What runs in a child, and how it ends there.

#include "../../src/engine/trial_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

#include <gtest/gtest.h>

#include "../support/threads.h"

namespace weft {
namespace {

constexpr double long_enough = 60;

TEST(TrialRun, ComesToItsEndInAChild) {
  const pid_t parent = getpid();
  int written = 0;
  const auto in_child = [&] {
    written = 7;
    if (getpid() == parent || written != 7) throw std::logic_error("no child");
  };
  EXPECT_EQ(run_in_child(in_child, long_enough), TrialEnd::Done);
  EXPECT_EQ(written, 0);
}

TEST(TrialRun, IsEndedWhereItHangs) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run_in_child(
                [] {
                  for (;;) pause();
                },
                0.05),
            TrialEnd::TimedOut);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took.count(), 0.05);
  EXPECT_LT(took.count(), long_enough / 2);
  EXPECT_LE(waitpid(-1, nullptr, WNOHANG), 0) << "nobody has waited for it";
}

TEST(TrialRun, MayCrash) {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGKILL})
    EXPECT_EQ(run_in_child([=] { std::raise(signal); }, long_enough), TrialEnd::Crashed) << signal;
  EXPECT_EQ(run_in_child([] { throw std::runtime_error(""); }, long_enough), TrialEnd::Crashed);
  EXPECT_EQ(run_in_child([] { _exit(0); }, long_enough), TrialEnd::Crashed);
  EXPECT_EQ(run_in_child([] {}, long_enough), TrialEnd::Done);
}

// The handlers of a program are for its own signals.
TEST(TrialRun, EndsWithoutTheHandlersOfTheProgram) {
  const auto before = std::signal(SIGSEGV, [](int) { pause(); });
  EXPECT_EQ(run_in_child([] { std::raise(SIGSEGV); }, long_enough), TrialEnd::Crashed);
  std::signal(SIGSEGV, before);
}

TEST(TrialRun, IsToldApartWhereTheProgramIgnoresItsChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run_in_child([] {}, long_enough), TrialEnd::Done);
  EXPECT_EQ(run_in_child([] { std::raise(SIGSEGV); }, long_enough), TrialEnd::Crashed);
  std::signal(SIGCHLD, before);
}

TEST(TrialRun, OfSeveralThreadsAtTheSameTime) {
  in_threads(4, [](int thread) {
    for (int round = 0; round < 10; ++round) {
      EXPECT_EQ(run_in_child([] {}, long_enough), TrialEnd::Done);
      if (thread > 0) continue;
      EXPECT_EQ(run_in_child([] { abort(); }, long_enough), TrialEnd::Crashed);
    }
  });
}

}  // namespace
}  // namespace weft
