// What the library does when there is no memory: whatever request is refused, a run ends as it should or throws
// std::bad_alloc or weft::Error, and the same run in the same process gives the right values afterwards.
//
// Usage: weft_fault_memory [RUN [SEED PROCESSES]]. Each process begins with nothing done, and refuses a request of several
// runs in turn, the first of which finds nothing made. Which ones is drawn; with WEFT_FULL=1 each one of a later run is
// refused besides.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <random>
#include <string>

#include <fmt/format.h>
#include <weft/dev/base/temporary_folder.h>
#include <weft/error.h>

#include "failing_new.h"
#include "small_runs.h"

namespace weft {
namespace {

constexpr int failures_of_a_process = 12;
constexpr unsigned patience = 120;  // seconds, for a process

// What a process is about to try, which its parent reports if it dies.
struct Attempt {
  std::int64_t n, number;
  Failing how;
  std::int64_t first_requests, later_requests;  // of a run that fails nowhere
};

Attempt& shared_attempt() {
  static void* const memory =
      ::mmap(nullptr, sizeof(Attempt), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *static_cast<Attempt*>(memory);
}

std::string in_words(const SmallRun& run, const Attempt& attempt) {
  return fmt::format("{} of {}, request {}{}", run.name, attempt.number, attempt.n,
                     attempt.how == Failing::Once ? "" : " and those that follow");
}

// What happens is neither an end nor an error that may happen; empty where it is.
std::string run_without_memory(const SmallRun& run, const Attempt& attempt,
                               const std::string& folder) {
  std::string wrong;
  start_failing(attempt.n, attempt.how);
  try {
    run.run(static_cast<int>(attempt.number), folder);
    stop_failing();
  } catch (const std::bad_alloc&) {
    stop_failing();
  } catch (const Error&) {
    stop_failing();
  } catch (const std::exception& other) {
    stop_failing();
    wrong = other.what();
  }
  return wrong;
}

bool is_right_afterwards(const SmallRun& run, const Attempt& attempt, const std::string& folder) {
  std::string wrong = run_without_memory(run, attempt, folder);
  try {
    if (wrong.empty()) run.run(static_cast<int>(attempt.number), folder);
  } catch (const std::exception& error) {
    wrong = fmt::format("the next run: {}", error.what());
  }
  if (!wrong.empty()) std::cerr << in_words(run, attempt) << ": " << wrong << "\n";
  return wrong.empty();
}

std::int64_t requests_of(const SmallRun& run, int number, const std::string& folder) {
  start_failing(std::numeric_limits<std::int64_t>::max(), Failing::Once);
  run.run(number, folder);
  const std::int64_t count = requests();
  stop_failing();
  return count;
}

// Whether it ended with 0.
template <class Work>
bool in_a_process(const SmallRun& run, Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(patience);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    std::cerr << in_words(run, shared_attempt()) << ": " << ::strsignal(WTERMSIG(status)) << "\n";
  return status == 0;
}

std::int64_t drawn(std::mt19937& random, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(1, most)(random);
}

bool fail_in_turn(const SmallRun& run, std::uint32_t seed, const std::string& folder) {
  std::mt19937 random(seed);
  Attempt& attempt = shared_attempt();
  bool is_right = true;
  for (int i = 0; i < failures_of_a_process; ++i) {
    attempt.number = drawn(random, 1000);
    attempt.n = drawn(random, i == 0 ? attempt.first_requests : attempt.later_requests);
    attempt.how = drawn(random, 2) == 1 ? Failing::Once : Failing::ForAWhile;
    is_right = is_right_afterwards(run, attempt, folder) && is_right;
  }
  return is_right;
}

bool fail_everywhere(const SmallRun& run, const std::string& folder) {
  Attempt& attempt = shared_attempt();
  attempt.how = Failing::Once;
  bool is_right = true;
  for (attempt.n = 1; attempt.n <= attempt.later_requests; ++attempt.n) {
    attempt.number = attempt.n % 1000 + 1;
    is_right = is_right_afterwards(run, attempt, folder) && is_right;
  }
  return is_right;
}

bool check(const SmallRun& run, std::uint32_t seed, int processes, bool is_full) {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  Attempt& attempt = shared_attempt();
  attempt = {};
  bool is_right = in_a_process(run, [&] {
    attempt.first_requests = requests_of(run, 1, path);
    attempt.later_requests = requests_of(run, 2, path);
    return true;
  });
  std::cout << fmt::format("{}: {} requests, {} later, seed {}\n", run.name, attempt.first_requests,
                           attempt.later_requests, seed)
            << std::flush;
  for (int i = 0; is_right && i < processes; ++i)
    is_right = in_a_process(
        run, [&] { return fail_in_turn(run, seed + static_cast<std::uint32_t>(i), path); });
  if (is_right && is_full) is_right = in_a_process(run, [&] { return fail_everywhere(run, path); });
  return is_right;
}

int main_of(int count, char** words) {
  const bool is_full = std::getenv("WEFT_FULL") != nullptr;
  const auto seed =
      static_cast<std::uint32_t>(count > 2 ? std::atoi(words[2]) : std::random_device()());
  int wrong = 0;
  for (const SmallRun& run : small_runs()) {
    if (count > 1 && std::string_view(words[1]) != run.name) continue;
    const int processes = count > 3 ? std::atoi(words[3])
                          : is_full ? run.processes * 20
                                    : run.processes;
    wrong += check(run, seed, processes, is_full) ? 0 : 1;
  }
  return wrong;
}

}  // namespace
}  // namespace weft

int main(int count, char** words) {
  ::setenv("CACHE_DIR", "none", 1);  // what is compiled is compiled anew
  ::setenv("SPEC", "0", 1);
  return weft::main_of(count, words);
}
