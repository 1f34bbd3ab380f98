// The model's best and their neighbours, compiled together and timed in turns. Candidates are run in
// this process: a schedule that is legal cannot make a kernel leave its buffers.

#include "search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <weft/dev/base/parallel.h>
#include <weft/dev/codegen/candidates.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/engine/tuning.h>
#include <weft/dev/ir/graph.h>
#include <weft/settings.h>

#include "report.h"
#include "timing.h"

namespace weft {
namespace {

constexpr double far_above = 2;       // the fastest, in the first run: out
constexpr double still_above = 1.15;  // after some rounds
constexpr double noise = 0.98;        // of another's time: is faster
constexpr int rounds = 8, rounds_before_out = 2;
constexpr int most_pairs = 15, least_pairs = 3;

std::atomic<std::uint64_t> timed = 0, refused = 0;

using Clock = std::chrono::steady_clock;

struct Candidate {
  Schedule schedule;
  std::string source;
  std::shared_ptr<LoadedKernel> loaded;
};
struct Runner {
  Schedule schedule;
  Timed time;
};

class Search {
 public:
  Search(const UOp& kernel, Device& device, const std::shared_ptr<const ExtraRuleList>& extra)
      : scope_(arena_),
        kernel_(import_graph(nodes_of({&kernel, 1}), Interner::current(), arena_)[0]),
        device_(device),
        extra_(extra),
        target_(device.target()),
        scratch_(kernel_, device) {
    opened_ = run_pipeline_until("optimise", {kernel_}, {.target = target_, .extra = extra})[0];
  }

  // Nothing where not even the default can be compiled.
  std::optional<Tuning> run(std::size_t width) {
    const auto schedules = candidate_schedules(opened_, target_, width);
    Tuning result{.schedule = to_string(schedules[0])};
    std::vector<Runner> runners = compiled({schedules[0]});
    if (runners.empty()) return std::nullopt;
    const Runner first = runners[0];
    for (Runner& runner : compiled({schedules.begin() + 1, schedules.end()}))
      runners.push_back(std::move(runner));
    if (runners.size() == 1 && neighbours(opened_, schedules[0]).empty()) return result;
    Runner best = climbed(race(std::move(runners)));
    return decided(first, std::move(best));
  }

 private:
  bool is_over() const { return seconds() > budget_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // Lowered one by one, since settings belong to the thread; compiled on all cores. Those that have
  // been tried, or are refused, are left out.
  std::vector<Runner> compiled(std::vector<Schedule> schedules) {
    const auto chunk = 2 * static_cast<std::size_t>(thread_count());
    std::vector<Runner> runners;
    std::vector<Candidate> ready;
    for (Schedule& schedule : schedules) {
      if (!seen_.empty() && is_over()) break;
      if (seen_.insert(to_string(schedule)).second) lower(std::move(schedule), ready);
      if (ready.size() >= chunk) load(ready, runners);
    }
    load(ready, runners);
    return runners;
  }

  void lower(Schedule schedule, std::vector<Candidate>& ready) {
    try {
      const Context quiet{{"DEBUG", 0}, {"DUMP", ""}};
      Rendered rendered = render_kernel(kernel_, to_string(schedule), device_, extra_);
      auto loaded = std::make_shared<LoadedKernel>();
      loaded->variables = std::move(rendered.variables);
      ready.push_back({std::move(schedule), std::move(rendered.source), std::move(loaded)});
    } catch (const std::exception&) {
      refuse();
    }
  }

  void load(std::vector<Candidate>& ready, std::vector<Runner>& runners) {
    std::vector<std::string> sources;
    for (const Candidate& candidate : ready) sources.push_back(candidate.source);
    std::vector<std::string> code;
    try {
      code = device_.compile_all(sources);
    } catch (const std::exception&) {
      code.clear();  // one of them is at fault
    }
    for (std::size_t i = 0; i < ready.size(); ++i) try {
        ready[i].loaded->program =
            device_.load(code.empty() ? device_.compile(sources[i]) : code[i]);
        runners.push_back({std::move(ready[i].schedule), Timed(ready[i].loaded, scratch_)});
      } catch (const std::exception&) {
        refuse();
      }
    ready.clear();
  }

  void refuse() {
    ++refused;
    ++refused_;
  }

  // The fastest of them. Each runs once, then those that are not far above take turns.
  Runner race(std::vector<Runner> runners) {
    std::vector<Runner> in;
    for (Runner& runner : runners) {
      if (!in.empty() && is_over()) break;
      runner.time.first();
      ++timed;
      ++timed_;
      in.push_back(std::move(runner));
    }
    drop_above(in, far_above);
    for (int round = 0; round < rounds && in.size() > 1 && !is_over(); ++round) {
      for (Runner& runner : in) runner.time.sample();
      if (round >= rounds_before_out) drop_above(in, still_above);
      report_search(line(in[0]), false);
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
  Tuning decided(Runner first, Runner best) {
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
    report_search(line(chosen), true);
    return {.kernel = {},
            .device = {},
            .schedule = to_string(chosen.schedule),
            .seconds = chosen.time.median(),
            .default_seconds = first.time.median()};
  }

  std::string line(const Runner& runner) const {
    return fmt::format("beam {:<30} {:3} timed {:3} refused {:10.2f} us {:5.1f} of {} s",
                       kernel_->arg<KernelArg>().name.get(), timed_, refused_,
                       runner.time.fastest() * 1e6, seconds(), budget_);
  }

  Arena arena_;
  const InternerScope scope_;
  const UOp kernel_;
  Device& device_;
  const std::shared_ptr<const ExtraRuleList>& extra_;
  const Target target_;
  Scratch scratch_;
  UOp opened_;
  const double budget_ = static_cast<double>(setting_int("BEAM_BUDGET"));
  const Clock::time_point start_ = Clock::now();
  std::set<std::string> seen_;
  std::size_t timed_ = 0, refused_ = 0;
};

// One at a time: two that run together would measure each other.
std::optional<Tuning> search(const KernelFor& wanted, std::int64_t width,
                             const std::shared_ptr<const ExtraRuleList>& extra, Tuning key) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (auto found = find_tuning(key.kernel, key.device); found && found->width >= width)
    return found;
  Search search(wanted.kernel, *wanted.device, extra);
  auto found = search.run(static_cast<std::size_t>(width));
  if (!found) return found;
  found->kernel = std::move(key.kernel);
  found->device = std::move(key.device);
  found->width = width;
  keep_tuning(*found);
  return found;
}

}  // namespace

std::string found_schedule(const KernelFor& wanted,
                           const std::shared_ptr<const ExtraRuleList>& extra) {
  const auto& [kernel, device] = wanted;
  const std::int64_t width = setting_int("BEAM");
  if (width <= 0 && !has_tunings()) return {};
  // Rules of the program have no name that another process knows.
  if (!kernel->arg<KernelArg>().schedule.empty() || setting_int("NOOPT") != 0 ||
      !device->target().lowered || !key_of(*extra).empty())
    return {};
  const StructuralHash hash = structural_hash(nodes_of({&kernel, 1}));
  Tuning key{
      .kernel = fmt::format("{:016x}{:016x}", hash.high, hash.low),
      .device = fmt::format("{}; {} threads", compilation_key(*device, *extra), thread_count())};
  auto found = find_tuning(key.kernel, key.device);
  if (width > 0 && (!found || found->width < width))
    found = search(wanted, width, extra, std::move(key));
  return found ? found->schedule : std::string();
}

SearchCounts search_counts() { return {timed, refused}; }

}  // namespace weft
