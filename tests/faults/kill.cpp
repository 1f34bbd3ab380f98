// What is left of programs that are killed at any moment: the next one computes the right values with the same folders, and what
// nobody will use is removed.
//
// Usage: weft_fault_kill MODE [SEED MOMENTS]. It runs itself as `weft_fault_kill work NUMBER`, which computes until it is killed,
// and `weft_fault_kill check NUMBER`, which computes the same and compares.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <weft/dev/base/process.h>
#include <weft/dev/base/temporary_folder.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/weft.h>

#include "../support/files_in.h"

extern char** environ;  // NOLINT: POSIX names it

namespace weft {
namespace {

namespace fs = std::filesystem;

// Of all entries: a few dozen kernels are more.
constexpr std::uint64_t cache_limit = 400'000;

// Whether a kernel that no other number has computes what it should.
bool is_right(int number) {
  const std::int64_t rows = 16, columns = 8 + number;
  const Tensor ones = Tensor::ones({rows, columns}).contiguous();
  const Tensor sums = (ones * static_cast<double>(number)).sum(1);
  return sums.to_vector<float>() == std::vector<float>(rows, static_cast<float>(number * columns));
}

// Each result is a byte to the parent.
[[noreturn]] void work(int number) {
  for (int i = 0;; i = (i + 1) % 64) {
    if (!is_right(number + i)) std::abort();
    if (::write(STDOUT_FILENO, "", 1) != 1) std::abort();
  }
}

int check(int number) {
  for (int i = 0; i < 3; ++i)
    if (!is_right(number + i)) return 1;
  return 0;
}

struct Mode {
  const char* name;
  std::vector<std::string> settings;
  int moments = 20;
};

// In a program that computes, or after a result of it.
constexpr int longest_wait = 60'000;  // microseconds

class Killing {
 public:
  explicit Killing(std::uint32_t seed) : random_(seed) {}

  // False where something was wrong.
  bool run(const Mode& mode, int moments) {
    const TemporaryFolder folder;
    const fs::path cache = folder / "cache", temporary = folder / "tmp";
    fs::create_directories(temporary);
    settings_ = mode.settings;
    settings_.insert(settings_.end(), {"DEV=CPU", "CALIBRATE=0", "SPEC=0"});
    settings_.push_back("CACHE_DIR=" + cache.string());
    settings_.push_back("TMPDIR=" + temporary.string());
    settings_.push_back(fmt::format("CACHE_LIMIT={}B", cache_limit));
    for (int i = 0; i < moments; ++i) {
      const int number = 1 + i * 2;
      if (!is_killed_while_working(number, i % 4)) return complain(mode, i, "it ended by itself");
      if (end_of(start("check", number, STDOUT_FILENO)) != 0)
        return complain(mode, i, "the next program does not compute what it should");
    }
    return is_bounded(mode, cache, temporary);
  }

 private:
  bool is_killed_while_working(int number, int results) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    const pid_t child = start("work", number, ends[1]);
    ::close(ends[1]);
    for (char byte = 0; results > 0 && ::read(ends[0], &byte, 1) == 1; --results) {
    }
    ::usleep(static_cast<useconds_t>(std::uniform_int_distribution<int>(0, longest_wait)(random_)));
    ::kill(child, SIGKILL);
    const int status = end_of(child);
    ::close(ends[0]);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

  static bool is_bounded(const Mode& mode, const fs::path& cache, const fs::path& temporary) {
    const DiskCache all(cache, cache_limit);
    if (const std::uint64_t bytes = all.size().bytes; bytes > cache_limit * 5 / 4)
      return complain(mode, -1, fmt::format("the cache has {} bytes", bytes));
    all.trim(0);
    for (const fs::path& file : files_in(cache))
      if (!file.filename().string().starts_with("schedules.sqlite"))
        return complain(mode, -1, file.string() + " stays");
    if (!fs::is_empty(temporary)) return complain(mode, -1, "temporary files stay");
    return true;
  }

  // Runs this program, with another's output.
  pid_t start(std::string what, int number, int output) const {
    std::string program = "/proc/self/exe", last = std::to_string(number);
    char* words[] = {program.data(), what.data(), last.data(), nullptr};
    std::vector<std::string> settings = settings_;  // of two of a name the first counts
    for (char** variable = environ; *variable != nullptr; ++variable)
      settings.insert(settings.end(), *variable);
    std::vector<char*> environment;
    for (std::string& setting : settings) environment.push_back(setting.data());
    environment.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    pid_t child = 0;
    if (::posix_spawn(&child, words[0], &files, nullptr, words, environment.data()) != 0)
      std::abort();
    ::posix_spawn_file_actions_destroy(&files);
    return child;
  }

  static int end_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  static bool complain(const Mode& mode, int moment, const std::string& what) {
    std::cerr << mode.name << ", moment " << moment << ": " << what << "\n";
    return false;
  }

  std::mt19937 random_;
  std::vector<std::string> settings_;
};

// Without calibration and the verifier, which are other tests' subject and take longer than the rest.
std::vector<Mode> modes() {
  return {{"compiling", {"BEAM=0"}},
          {"tuning", {"BEAM=2", "BEAM_BUDGET=0"}},
          {"clang", {"BEAM=0", "CLANG=1"}, 8}};
}

constexpr int skipped = 77;

int main_of(int count, char** words) {
  const std::string_view first = count > 1 ? words[1] : "";
  if (first == "work") work(std::atoi(words[2]));
  if (first == "check") return check(std::atoi(words[2]));
  const bool is_full = std::getenv("WEFT_FULL") != nullptr;
  const auto seed =
      count > 2 ? static_cast<std::uint32_t>(std::atoi(words[2])) : std::random_device()();
  if (first == "clang" && find_program({"clang", "clang-19"}).empty()) return skipped;
  std::cout << "seed " << seed << "\n" << std::flush;
  Killing killing(seed);
  for (const Mode& mode : modes())
    if (first == mode.name) {
      const int usual = is_full ? mode.moments * 10 : mode.moments;
      return killing.run(mode, count > 3 ? std::atoi(words[3]) : usual) ? 0 : 1;
    }
  std::cerr << "there is no mode '" << first << "'\n";
  return 2;
}

}  // namespace
}  // namespace weft

int main(int count, char** words) { return weft::main_of(count, words); }
