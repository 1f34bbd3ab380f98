#include "trial_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double longest = 1e8;  // the clock counts no farther than some hundred times that

// Handlers of the program are for its own faults; a core file of each crash is for nobody.
void die_quietly() {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP})
    std::signal(signal, SIG_DFL);
  const rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

// A byte says that it came to its end: the status of a child may be somebody else's to read.
[[noreturn]] void run_and_tell(const std::function<void()>& f, int done) {
  die_quietly();
  try {
    f();
    _exit(write(done, "", 1) == 1 ? 0 : 1);
  } catch (...) {  // says no more than a crash
    _exit(1);
  }
}

// Whether there is a byte, or nobody left who could write one.
bool is_readable_until(Clock::time_point end, int pipe) {
  pollfd waiting{.fd = pipe, .events = POLLIN, .revents = 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int found = poll(&waiting, 1, static_cast<int>(std::clamp<long>(left, 0, 1'000'000)));
    if (found > 0) return true;
    if (left <= 0 || (found < 0 && errno != EINTR)) return false;
  }
}

void reap(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

TrialEnd run_in_child(const std::function<void()>& f, double seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return TrialEnd::Crashed;
  const auto [from, to] = ends;
  const std::chrono::duration<double> limit(std::min(seconds, longest));
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  const pid_t child = fork();
  if (child == 0) run_and_tell(f, to);
  close(to);
  const bool in_time = child < 0 || is_readable_until(end, from);
  char byte = 0;
  const bool is_done = in_time && read(from, &byte, 1) == 1;
  close(from);
  if (child > 0) {
    kill(child, SIGKILL);  // it has told all
    reap(child);
  }
  return is_done ? TrialEnd::Done : in_time ? TrialEnd::Crashed : TrialEnd::TimedOut;
}

}  // namespace weft
