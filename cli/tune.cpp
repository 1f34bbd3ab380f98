// Searches schedules for the kernels of a model, and says what that gains.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <weft/dev/engine/tuning.h>
#include <weft/error.h>

#include "commands.h"
#include "input.h"
#include "interrupt.h"
#include "json.h"
#include "model_inputs.h"
#include "recorded_call.h"
#include "terminal.h"

namespace weft::cli {
namespace {

// A search that is given less finds next to nothing.
constexpr double least_seconds = 0.2;

struct Row {
  CallKernel kernel;  // with its time before
  double after_ms = 0;
  bool is_searched = false;
  std::string schedule;  // that is kept now; empty where the model's is
};

struct Outcome {
  std::vector<Row> rows;                            // the longest first
  double before_ms = 0, after_ms = 0, seconds = 0;  // of a call, and of the searches
  std::size_t searched = 0;
  std::uint64_t timed = 0;  // schedules
  bool is_interrupted = false;
};

double seconds_since(Clock::time_point start) { return ms_since(start) / 1e3; }

class Progress {
 public:
  Progress(Clock::time_point start, double budget, std::size_t kernels)
      : start_(start), budget_(budget), kernels_(kernels) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void tell(std::size_t kernel, const std::string& name, const SearchProgress& progress) const {
    if (!is_shown_) return;
    const std::string best =
        progress.timed > 0 ? fmt::format(", best {:.2f} us", progress.fastest * 1e6) : "";
    fmt::print(stderr, "\r\x1b[K{:.0f} of {:.0f} s  kernel {} of {}  {}  {} timed{}",
               seconds_since(start_), budget_, kernel + 1, kernels_,
               colored(name, Color::Green, stderr), progress.timed, best);
  }

 private:
  void clear() const {
    if (is_shown_) fmt::print(stderr, "\r\x1b[K");
  }

  const Clock::time_point start_;
  const double budget_;
  const std::size_t kernels_;
  const bool is_shown_ = is_terminal(stderr);
};

// Each gets of the time that is left as much as it has of what all that are left take.
void search(const TuneModelOptions& options, Outcome& outcome) {
  const Clock::time_point start = Clock::now();
  const Progress progress(start, options.seconds, outcome.rows.size());
  double left_ms = 0;
  for (const Row& row : outcome.rows) left_ms += row.kernel.ms;
  for (std::size_t i = 0; i < outcome.rows.size() && !Interrupt::came(); ++i) {
    Row& row = outcome.rows[i];
    const double left = options.seconds - seconds_since(start);
    const double seconds = left * row.kernel.ms / left_ms;
    left_ms -= row.kernel.ms;
    if (row.kernel.kernel.is_null()) continue;
    if (seconds < least_seconds) break;
    std::uint64_t timed = 0;
    const auto tell = [&](const SearchProgress& search) {
      timed = search.timed;
      progress.tell(i, row.kernel.name, search);
    };
    tell({});
    row.is_searched =
        tune(row.kernel.kernel, find_device(row.kernel.device),
             {.width = options.width, .seconds = seconds, .stops = Interrupt::came, .tell = tell})
            .has_value();
    outcome.searched += row.is_searched ? 1 : 0;
    outcome.timed += timed;
  }
  outcome.is_interrupted = Interrupt::came();
  outcome.seconds = seconds_since(start);
}

double ms_in(const RecordedCall& call, const std::string& key) {
  const auto found = std::ranges::find(call.kernels(), key, &CallKernel::key);
  return found == call.kernels().end() ? NAN : found->ms;
}

// Calls by the schedules from before and by those that are kept now, in turns.
void compare(RecordedCall& before, RecordedCall& after, int runs, Outcome& outcome) {
  before.forget_times();
  std::vector<double> before_ms, after_ms;
  for (int i = 0; i < runs; ++i) {
    before.time_kernels(1);
    before_ms.push_back(before.replay());
    after.time_kernels(1);
    after_ms.push_back(after.replay());
  }
  outcome.before_ms = Times(std::move(before_ms)).ms(0.5);
  outcome.after_ms = Times(std::move(after_ms)).ms(0.5);
  for (Row& row : outcome.rows) {
    row.kernel.ms = ms_in(before, row.kernel.key);
    row.after_ms = ms_in(after, row.kernel.key);
  }
  std::ranges::sort(outcome.rows, std::ranges::greater(),
                    [](const Row& row) { return row.kernel.ms; });
}

// The outcome has a row for each kernel of the call.
void search(const TuneModelOptions& options, RecordedCall& call, Outcome& outcome) {
  call.time_kernels(options.runs);
  for (const CallKernel& kernel : call.kernels()) outcome.rows.push_back({kernel, 0, false, {}});
  search(options, outcome);
  forget_plans();
}

Outcome tuned(const TuneModelOptions& options) {
  const onnx::Model model = load_model(options.model);
  const auto inputs = [&] { return model_inputs(model, options.model.inputs, {}); };
  RecordedCall before = recorded(model, inputs());
  Outcome outcome;
  search(options, before, outcome);
  // Of new inputs: what is held of those from before would not be computed again.
  RecordedCall after = recorded(model, inputs());
  compare(before, after, options.runs, outcome);
  for (Row& row : outcome.rows) {
    if (!row.kernel.kernel.is_null())
      row.schedule = kept_schedule(row.kernel.kernel, find_device(row.kernel.device));
    row.kernel.kernel = {};  // it goes with the call
  }
  return outcome;
}

void print_text(const Outcome& outcome) {
  fmt::print("{:>10} {:>10} {:>6}  name, nodes: schedule\n", "before ms", "after ms", "gain");
  for (const Row& row : outcome.rows)
    fmt::print("{:10.4f} {:10.4f} {:>6}  {}{}: {}\n", row.kernel.ms, row.after_ms,
               row.is_searched ? fmt::format("{:.2f}", row.kernel.ms / row.after_ms) : "-",
               colored(row.kernel.name, Color::Green), row.kernel.nodes_text(),
               row.schedule.empty() ? "the cost model's choice" : row.schedule);
  fmt::print("time of a call: {:.4g} ms before, {:.4g} ms after, {:.2f} times as fast\n",
             outcome.before_ms, outcome.after_ms, outcome.before_ms / outcome.after_ms);
  fmt::print("{} of {} searched, {} timed in {:.3g} s{}\n", outcome.searched,
             count_text(outcome.rows.size(), "kernel"), count_text(outcome.timed, "schedule"),
             outcome.seconds, outcome.is_interrupted ? ", then interrupted" : "");
}

void print_json(const Outcome& outcome) {
  std::vector<std::string> rows;
  for (const Row& row : outcome.rows)
    rows.push_back(json_object({{"name", json_text(row.kernel.name)},
                                {"nodes", row.kernel.nodes_json()},
                                {"device", json_text(row.kernel.device)},
                                {"runs", fmt::to_string(row.kernel.calls.size())},
                                {"searched", row.is_searched ? "true" : "false"},
                                {"before_ms", json_number(row.kernel.ms)},
                                {"after_ms", json_number(row.after_ms)},
                                {"schedule", json_text(row.schedule)}}));
  fmt::print("{}\n", json_object({{"before_ms", json_number(outcome.before_ms)},
                                  {"after_ms", json_number(outcome.after_ms)},
                                  {"seconds", json_number(outcome.seconds)},
                                  {"searched", fmt::to_string(outcome.searched)},
                                  {"timed", fmt::to_string(outcome.timed)},
                                  {"interrupted", outcome.is_interrupted ? "true" : "false"},
                                  {"kernels", json_list(rows)}}));
}

}  // namespace

void search_schedules(const TuneModelOptions& options) {
  const onnx::Model model = load_model(options.model);
  RecordedCall call = recorded(model, model_inputs(model, options.model.inputs, {}));
  Outcome outcome;
  search(options, call, outcome);
}

bool run_tune(const TuneModelOptions& options) {
  const Interrupt interrupt;
  const Outcome outcome = tuned(options);
  if (options.json)
    print_json(outcome);
  else
    print_text(outcome);
  flush_output();
  return !outcome.is_interrupted;
}

}  // namespace weft::cli
