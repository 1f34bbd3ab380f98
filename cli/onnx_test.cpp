#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <weft/error.h>

#include "input.h"
#include "onnx_cases.h"

namespace weft::cli {
namespace {

using Outcomes = std::map<std::string, OnnxOutcome>;

// --- Several processes: a case that ends one is a case that failed ----------------------------------------

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// Runs cases and writes of each that it begins, and how it ends. Does not return.
[[noreturn]] void run_as_child(const std::vector<OnnxCase>& cases, std::size_t first, int to,
                               const OnnxTestOptions& options) {
  std::FILE* out = ::fdopen(to, "w");
  for (std::size_t i = first; i < cases.size(); ++i) {
    const OnnxOutcome outcome = run_onnx_case(cases[i], options);
    fmt::print(out, "{}{}\n", static_cast<char>(outcome.kind), in_one_line(outcome.why));
    std::fflush(out);
  }
  ::_exit(0);
}

struct Child {
  pid_t process;
  int from;  // what it writes
};

// What the child said of the cases from `first` on, and how it ended.
int read_child(const Child& child, std::vector<OnnxOutcome>& outcomes) {
  std::FILE* in = ::fdopen(child.from, "r");
  std::string line;
  for (int c = std::fgetc(in); c != EOF; c = std::fgetc(in)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    outcomes.push_back({static_cast<OnnxOutcome::Kind>(line.at(0)), line.substr(1)});
    line.clear();
  }
  std::fclose(in);
  int status = 0;
  ::waitpid(child.process, &status, 0);
  return status;
}

// One after the other: a child that had the end that another writes to would keep it open.
Child new_child(const std::vector<OnnxCase>& cases, std::size_t first,
                const OnnxTestOptions& options) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  int pipe[2];
  if (::pipe(pipe) != 0) internal_error("onnx-test: cannot create a pipe");
  const pid_t child = ::fork();
  if (child < 0) internal_error("onnx-test: cannot create a process");
  if (child == 0) run_as_child(cases, first, pipe[1], options);
  ::close(pipe[1]);
  return {child, pipe[0]};
}

std::vector<OnnxOutcome> run_in_children(const std::vector<OnnxCase>& cases,
                                         const OnnxTestOptions& options) {
  std::vector<OnnxOutcome> outcomes;
  while (outcomes.size() < cases.size()) {
    const Child child = new_child(cases, outcomes.size(), options);
    const int status = read_child(child, outcomes);
    if (outcomes.size() < cases.size())
      outcomes.push_back(
          {OnnxOutcome::Failed, fmt::format("it terminated its process (status {})", status)});
  }
  return outcomes;
}

Outcomes run_all(const std::vector<OnnxCase>& cases, const OnnxTestOptions& options) {
  Outcomes all;
  if (options.jobs <= 1) {
    for (const OnnxCase& each : cases) all[each.name] = run_onnx_case(each, options);
    return all;
  }
  const auto jobs = static_cast<std::size_t>(options.jobs);
  std::vector<std::vector<OnnxCase>> shares(jobs);
  for (std::size_t i = 0; i < cases.size(); ++i) shares[i % jobs].push_back(cases[i]);
  std::vector<std::vector<OnnxOutcome>> outcomes(jobs);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < jobs; ++i)
    threads.emplace_back([&, i] { outcomes[i] = run_in_children(shares[i], options); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t job = 0; job < jobs; ++job)
    for (std::size_t i = 0; i < shares[job].size(); ++i)
      all[shares[job][i].name] = outcomes[job][i];
  return all;
}

// --- What is said ---------------------------------------------------------------------------------------

// The names, and whether they may pass as well.
std::map<std::string, bool> expected_failures(const std::string& path) {
  std::map<std::string, bool> names;
  if (path.empty()) return names;
  std::ifstream file(path);
  if (!file) user_error(fmt::format("onnx-test: cannot read '{}'", path));
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') {
      const bool may_pass = line[0] == '?';
      names.emplace(line.substr(may_pass ? 1 : 0, line.find(' ') - (may_pass ? 1 : 0)), may_pass);
    }
  return names;
}

std::string word_of(OnnxOutcome::Kind kind) {
  if (kind == OnnxOutcome::Passed) return "passed";
  return kind == OnnxOutcome::Failed ? "failed" : "unsupported";
}

void print_json(const Outcomes& outcomes) {
  fmt::print("{{\n");
  std::size_t left = outcomes.size();
  for (const auto& [name, outcome] : outcomes) {
    std::string why;
    for (const char c : in_one_line(outcome.why)) {
      if (c == '"' || c == '\\') why += '\\';
      why += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    fmt::print("  \"{}\": [\"{}\", \"{}\"]{}\n", name, word_of(outcome.kind), why,
               --left > 0 ? "," : "");
  }
  fmt::print("}}\n");
}

}  // namespace

void run_onnx_test(const OnnxTestOptions& options) {
  const auto expected = expected_failures(options.expected);
  const std::vector<OnnxCase> cases = find_onnx_cases(options.folders);
  if (cases.empty()) user_error("onnx-test: the folders contain no test cases");
  const Outcomes outcomes = run_all(cases, options);
  std::map<OnnxOutcome::Kind, std::size_t> counts;
  std::size_t surprises = 0;
  for (const auto& [name, outcome] : outcomes) {
    ++counts[outcome.kind];
    const bool passed = outcome.kind == OnnxOutcome::Passed;
    const auto listed = expected.find(name);
    const bool is_listed = listed != expected.end();
    const bool should_fail = is_listed && !listed->second;
    bool is_surprise = passed ? should_fail : !is_listed;
    if (options.expected.empty()) is_surprise = outcome.kind == OnnxOutcome::Failed;
    if (is_surprise) ++surprises;
    if (options.json) continue;
    if (passed && should_fail) fmt::print("{}: it passes, but is listed as a failure\n", name);
    if (!passed && !is_listed)
      fmt::print("{}: {}{}\n", name,
                 outcome.kind == OnnxOutcome::Unsupported ? "unsupported: " : "",
                 in_one_line(outcome.why));
  }
  if (options.json) print_json(outcomes);
  const std::string summary =
      fmt::format("{} passed, {} failed, {} unsupported", counts[OnnxOutcome::Passed],
                  counts[OnnxOutcome::Failed], counts[OnnxOutcome::Unsupported]);
  if (!options.json) fmt::print("{}\n", summary);
  flush_output();
  if (surprises > 0)
    user_error(fmt::format("onnx-test: {} cases have an unexpected outcome", surprises));
}

}  // namespace weft::cli
