// The model's best and their neighbours, compiled together and timed in turns. Each first runs in a
// child, which may hang or crash.

#include "search.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/base/parallel.h>
#include <weft/dev/codegen/candidates.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/engine/tuning.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "found_mistake.h"
#include "report.h"
#include "timing.h"

namespace weft {
namespace {

constexpr double far_above = 2;       // the fastest, in the first run: out
constexpr double still_above = 1.15;  // after some rounds
constexpr double noise = 0.98;        // of another's time: is faster
constexpr int rounds = 8, rounds_before_out = 2;
constexpr int most_pairs = 15, least_pairs = 3;

// Of the shortest trial: a trial that takes longer is ended, but for what starting a child may take.
constexpr double too_long = 4, least_patience = 0.1;
// Compiling cannot be broken off. It takes as long as what is compiled, and loops that were copied too
// often are not fast either.
constexpr std::size_t too_large = 8, least_size = std::size_t{64} << 10;

using Clock = std::chrono::steady_clock;

struct Totals {
  std::mutex mutex;
  SearchCounts counts;
};

Totals& totals() {
  static Totals all;
  return all;
}

struct Candidate {
  Schedule schedule;
  std::string source;
  std::shared_ptr<LoadedKernel> loaded;
};
struct Runner {
  Schedule schedule;
  Timed time;
};

constexpr std::size_t hash_digits = 16;
std::string hash_of(const Schedule& schedule) {
  return fmt::format("{:016x}", hash_text(to_string(schedule)));
}

std::set<std::string> hashes_in(const std::string& text) {
  std::set<std::string> hashes;
  for (std::size_t at = 0; at < text.size(); at += hash_digits)
    hashes.insert(text.substr(at, hash_digits));
  return hashes;
}

// What is kept may be of anybody's making.
std::optional<Schedule> parsed(const std::string& text) {
  try {
    return text.empty() ? std::nullopt : std::optional(parse_schedule(text));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// What a search may take, and who wants to know of it.
struct Limits {
  double seconds = 0;  // with those that earlier searches took
  std::function<bool()> stops = {};
  std::function<void(const SearchProgress&)> tell = {};  // in place of a line
};

class Search {
 public:
  // `known` says how wide it is, and how far another was.
  Search(const KernelFor& wanted, const std::shared_ptr<const ExtraRuleList>& extra, Tuning known,
         Limits limits)
      : scope_(arena_),
        kernel_(import_graph(nodes_of({&wanted.kernel, 1}), Interner::current(), arena_)[0]),
        device_(*wanted.device),
        extra_(extra),
        target_(device_.target()),
        scratch_(kernel_, device_),
        limits_(std::move(limits)),
        found_(std::move(known)),
        before_(found_.spent),
        tried_(hashes_in(found_.tried)) {
    opened_ = run_pipeline_until("optimise", {kernel_}, {.target = target_, .extra = extra})[0];
  }

  // Nothing where not even the default can be compiled and run.
  std::optional<Tuning> run() {
    auto schedules = candidate_schedules(opened_, target_, static_cast<std::size_t>(found_.width));
    const Schedule usual = schedules[0];
    std::vector<Schedule> begin{usual};
    if (auto best = parsed(found_.schedule); best && *best != usual) begin.push_back(*best);
    for (const Schedule& schedule : begin) tried_.erase(hash_of(schedule));
    std::vector<Runner> runners = compiled(std::move(begin));
    if (runners.empty() || runners[0].schedule != usual) return std::nullopt;
    for (const Runner& runner : runners) tried_.insert(hash_of(runner.schedule));
    const Runner first = runners[0];
    const TrialEnd end = end_of_trial(first);
    if (end == TrialEnd::Crashed) return std::nullopt;
    if (end == TrialEnd::TimedOut) return keep(first, false);
    for (Runner& runner : compiled(std::move(schedules))) runners.push_back(std::move(runner));
    if (runners.size() == 1 && neighbours(opened_, usual).empty()) return keep(first, true);
    Runner best = climbed(race(std::move(runners)));
    return decided(first, std::move(best), !is_over());
  }

 private:
  bool is_stopped() const { return limits_.stops && limits_.stops(); }
  bool is_over() const { return is_stopped() || seconds() > limits_.seconds; }
  double seconds() const {
    return before_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  // Lowered one by one, since settings belong to the thread; compiled on all cores. Those that have
  // been tried, or are refused, are left out.
  std::vector<Runner> compiled(std::vector<Schedule> schedules) {
    const auto chunk = 2 * static_cast<std::size_t>(thread_count());
    std::vector<Runner> runners;
    std::vector<Candidate> ready;
    std::set<std::string> seen = tried_;
    for (Schedule& schedule : schedules) {
      if (&schedule != &schedules.front() && is_over()) break;
      if (seen.insert(hash_of(schedule)).second) lower(std::move(schedule), ready);
      if (ready.size() >= chunk) load(ready, runners);
    }
    load(ready, runners);
    return runners;
  }

  void lower(Schedule schedule, std::vector<Candidate>& ready) {
    try {
      const Context quiet{{"DEBUG", 0}, {"DUMP", ""}};
      Rendered rendered = render_kernel(kernel_, to_string(schedule), device_, extra_);
      if (first_size_ == 0) first_size_ = rendered.source.size();
      if (rendered.source.size() > std::max(too_large * first_size_, least_size))
        return count(&SearchCounts::refused, schedule);
      auto loaded = std::make_shared<LoadedKernel>();
      loaded->variables = std::move(rendered.variables);
      loaded->kept = std::move(rendered.kept);
      loaded->is_read = std::move(rendered.is_read);
      ready.push_back({std::move(schedule), std::move(rendered.source), std::move(loaded)});
    } catch (const std::exception& error) {
      if (is_found_mistake(error)) throw;
      count(&SearchCounts::refused, schedule);
    }
  }

  void load(std::vector<Candidate>& ready, std::vector<Runner>& runners) {
    std::vector<std::string> sources;
    for (const Candidate& candidate : ready) sources.push_back(candidate.source);
    std::vector<std::string> code;
    try {
      code = device_.compile_all(sources);
    } catch (const std::exception&) {
      if (is_stopped()) return ready.clear();  // what stops this may have stopped a compiler
      code.clear();                            // one of them is at fault
    }
    for (std::size_t i = 0; i < ready.size(); ++i) try {
        ready[i].loaded->program =
            device_.load(code.empty() ? device_.compile(sources[i]) : code[i]);
        runners.push_back({std::move(ready[i].schedule), Timed(ready[i].loaded, scratch_)});
      } catch (const std::exception&) {
        count(&SearchCounts::refused, ready[i].schedule);
      }
    ready.clear();
  }

  // It need not be tried again.
  void count(std::uint64_t SearchCounts::* what, const Schedule& schedule) {
    tried_.insert(hash_of(schedule));
    ++(counts_.*what);
    const std::lock_guard lock(totals().mutex);
    ++(totals().counts.*what);
  }

  // How a first run ends, as far as the device lets a child find that out.
  TrialEnd end_of_trial(const Runner& runner) {
    if (!device_.runs_in_children()) return TrialEnd::Done;
    const Clock::time_point start = Clock::now();
    const TrialEnd end = runner.time.trial(patience_);
    const std::chrono::duration<double> took = Clock::now() - start;
    if (end == TrialEnd::Done)
      patience_ = std::min(patience_, std::max(too_long * took.count(), least_patience));
    if (end == TrialEnd::TimedOut) count(&SearchCounts::timed_out, runner.schedule);
    if (end == TrialEnd::Crashed) count(&SearchCounts::crashed, runner.schedule);
    return end;
  }

  // The fastest of them, the first of which has run before. Each runs once, then those that are not
  // far above take turns.
  Runner race(std::vector<Runner> runners) {
    std::vector<Runner> in;
    for (Runner& runner : runners) {
      if (!in.empty() && is_over()) break;
      if (!in.empty() && end_of_trial(runner) != TrialEnd::Done) continue;
      runner.time.first();
      count(&SearchCounts::timed, runner.schedule);
      in.push_back(std::move(runner));
    }
    drop_above(in, far_above);
    for (int round = 0; round < rounds && in.size() > 1 && !is_over(); ++round) {
      for (Runner& runner : in) runner.time.sample();
      if (round >= rounds_before_out) drop_above(in, still_above);
      report(in[0], false);
    }
    drop_above(in, 1);
    return std::move(in[0]);
  }

  static void drop_above(std::vector<Runner>& runners, double factor) {
    double best = runners[0].time.fastest();
    for (const Runner& runner : runners) best = std::min(best, runner.time.fastest());
    std::erase_if(runners,
                  [&](const Runner& runner) { return runner.time.fastest() > best * factor; });
  }

  // To a neighbour that is faster, for as long as there is one.
  Runner climbed(Runner best) {
    while (!is_over()) {
      keep(best, false);
      std::vector<Runner> steps = compiled(neighbours(opened_, best.schedule));
      const double before = best.time.fastest();
      const Schedule here = best.schedule;
      steps.insert(steps.begin(), std::move(best));
      best = race(std::move(steps));
      if (best.schedule == here || best.time.fastest() > before * noise) break;
    }
    return best;
  }

  // By turns with the default, which wins unless it is slower by more than noise.
  Tuning decided(Runner first, Runner best, bool is_done) {
    first.time.first();
    first.time.forget();
    best.time.forget();
    for (int pair = 0; pair < most_pairs && (pair < least_pairs || !is_over()); ++pair) {
      Timed& earlier = pair % 2 == 0 ? first.time : best.time;
      earlier.sample();
      (&earlier == &first.time ? best : first).time.sample();
    }
    const bool is_faster = best.time.median() < first.time.median() * noise &&
                           best.time.fastest() < first.time.fastest() * noise;
    Runner& chosen = is_faster ? best : first;
    report(chosen, true);
    found_.default_seconds = first.time.median();
    return keep(chosen, is_done);
  }

  // The best so far, and all that another search need not do again.
  const Tuning& keep(const Runner& best, bool is_done) {
    found_.schedule = to_string(best.schedule);
    found_.seconds = best.time.median();
    found_.is_done = is_done;
    found_.spent = seconds();
    found_.tried = fmt::format("{}", fmt::join(tried_, ""));
    keep_tuning(found_);
    return found_;
  }

  void report(const Runner& runner, bool is_done) const {
    if (limits_.tell)
      limits_.tell({counts_.timed, seconds() - before_, runner.time.fastest()});
    else
      report_search(line(runner), is_done);
  }

  std::string line(const Runner& runner) const {
    return fmt::format(
        "beam {:<30} {:3} timed {:3} refused {:2} timed out {:2} crashed {:10.2f} us {:5.1f} of {} "
        "s",
        kernel_->arg<KernelArg>().name.get(), counts_.timed, counts_.refused, counts_.timed_out,
        counts_.crashed, runner.time.fastest() * 1e6, seconds(), limits_.seconds);
  }

  Arena arena_;
  const InternerScope scope_;
  const UOp kernel_;
  Device& device_;
  const std::shared_ptr<const ExtraRuleList>& extra_;
  const Target target_;
  Scratch scratch_;
  UOp opened_;
  const Limits limits_;
  const Clock::time_point start_ = Clock::now();
  Tuning found_;
  const double before_;          // seconds that others took
  std::set<std::string> tried_;  // hashes
  SearchCounts counts_;
  double patience_ = std::max(limits_.seconds, least_patience);  // in seconds, with a trial
  std::size_t first_size_ = 0;                                   // of the default's source
};

// Whether there is more to do.
bool is_too_little(const std::optional<Tuning>& found, std::int64_t width, double seconds) {
  return !found || found->width < width || (!found->is_done && found->spent < seconds);
}

// One at a time: two that run together would measure each other. `more`: the seconds do not count those of earlier ones.
std::optional<Tuning> search(const KernelFor& wanted, std::int64_t width,
                             const std::shared_ptr<const ExtraRuleList>& extra, const Tuning& key,
                             Limits limits, bool more) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto found = find_tuning(key.kernel, key.device);
  Tuning known = found.value_or(key);
  if (known.width < width) known.spent = 0;
  if (more) limits.seconds += known.spent;
  if (!is_too_little(found, width, limits.seconds)) return found;
  known.width = std::max(known.width, width);
  return Search(wanted, extra, std::move(known), std::move(limits)).run();
}

// Whether a search has anything to say. Rules of the program have no name that another process knows.
bool has_choice(const KernelFor& wanted, const ExtraRuleList& extra) {
  return wanted.kernel->arg<KernelArg>().schedule.empty() && setting_int("NOOPT") == 0 &&
         wanted.device->target().lowered && key_of(extra).empty();
}

// Wherever its constants are: searches run it again and again.
StructuralHash hash_of_search(const UOp& kernel) {
  Interner& from = Interner::current();
  Arena arena;
  const InternerScope scope(arena);
  const UOp anywhere = with_constants(import_graph(nodes_of({&kernel, 1}), from, arena)[0], false);
  return structural_hash(nodes_of({&anywhere, 1}));
}

// What was found stays for later builds, but not for those that know other instructions of the processor.
Tuning key_for(const KernelFor& wanted, const ExtraRuleList& extra) {
  const StructuralHash hash = hash_of_search(wanted.kernel);
  std::string device =
      fmt::format("{}; {} threads", compilation_key(*wanted.device, extra), thread_count());
  for (const MmaShape& shape : wanted.device->target().mma)
    device += fmt::format("; {}", shape.name);
  return {.kernel = fmt::format("{:016x}{:016x}", hash.high, hash.low),
          .device = std::move(device)};
}

}  // namespace

std::string found_schedule(const KernelFor& wanted,
                           const std::shared_ptr<const ExtraRuleList>& extra) {
  const std::int64_t width = setting_int("BEAM");
  if ((width <= 0 && !has_tunings()) || !has_choice(wanted, *extra)) return {};
  const Tuning key = key_for(wanted, *extra);
  auto found = find_tuning(key.kernel, key.device);
  if (width > 0) {
    const auto budget = static_cast<double>(setting_int("BEAM_BUDGET"));
    if (is_too_little(found, width, budget))
      found = search(wanted, width, extra, key, {.seconds = budget}, false);
  }
  return found ? found->schedule : std::string();
}

std::optional<Tuning> tune(const UOp& kernel, Device& device, const TuneOptions& options) {
  const KernelFor wanted{kernel, &device};
  const auto extra = PassOptions{}.extra;
  if (!has_choice(wanted, *extra)) return std::nullopt;
  return search(wanted, options.width, extra, key_for(wanted, *extra),
                {options.seconds, options.stops, options.tell}, true);
}

std::string kept_schedule(const UOp& kernel, Device& device) {
  return found_schedule({kernel, &device}, PassOptions{}.extra);
}

SearchCounts search_counts() {
  const std::lock_guard lock(totals().mutex);
  return totals().counts;
}

}  // namespace weft
