// Searches whose candidates hang, crash or are too large, and those that go on where others ended: on
// a device that runs nothing, but does what the test says.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <weft/dev/codegen/candidates.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/engine/realize.h>
#include <weft/dev/engine/schedule.h>
#include <weft/dev/engine/tuning.h>
#include <weft/dev/ir/text.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../../src/engine/search.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Faulty final : public Device {
 public:
  explicit Faulty(int index) : name_("FAULTY:" + std::to_string(index)) {}
  std::string_view name() const override { return name_; }
  Allocator& allocator() override { return memory_; }
  Target target() const override {
    Target target = find_device("CPU").target();
    if (mma) target.mma = *mma;
    return target;
  }
  bool runs_in_children() override { return has_children; }
  // The first is the default.
  std::string render(const Node* kernel) override {
    std::string text = print_graph("kernel", NodeList(&kernel, 1), {.renumber = true});
    if (usual.empty()) usual = text;
    return text == usual ? text : text + std::string(padding, ' ');
  }
  std::string compile(std::string_view source) override { return std::string(source); }
  std::string compiler_key() const override { return "faulty"; }
  std::unique_ptr<Program> load(std::string_view code) override {
    class Faults final : public Program {
     public:
      Faults(Faulty& device, std::string_view code) : device_(device), code_(code) {}
      void run(std::span<const Argument>, std::span<const std::int64_t>) override {
        ++device_.runs[code_];
        (code_ == device_.usual ? device_.run_usual : device_.run_other)();
      }

     private:
      Faulty& device_;
      std::string code_;
    };
    return std::make_unique<Faults>(*this, code);
  }

  std::string usual;
  std::function<void()> run_usual = [] {}, run_other = [] {};
  std::size_t padding = 0;
  bool has_children = true;
  std::optional<std::vector<MmaShape>> mma;  // in place of the processor's
  std::map<std::string, int> runs;           // in this process, by the source

 private:
  std::string name_;
  HostMemory memory_;
};

Faulty& new_device() {
  static const bool added = [] {
    add_device("FAULTY", "a device of a test", [](int index) -> std::unique_ptr<Device> {
      return std::make_unique<Faulty>(index);
    });
    return true;
  }();
  static_cast<void>(added);
  static int count = 0;
  return dynamic_cast<Faulty&>(find_device("FAULTY:" + std::to_string(count++)));
}

using Runs = std::map<std::string, int>;

int common(const Runs& a, const Runs& b) {
  return static_cast<int>(
      std::ranges::count_if(a, [&](const auto& run) { return b.contains(run.first); }));
}

void hang() {
  for (;;) pause();
}

class SearchTrials : public testing::Test {
 protected:
  SearchTrials() : folder_(new_folder()) {
    const Tensor a = Tensor::empty({24, 32}), b = Tensor::empty({32, 40});
    wanted_.kernel =
        schedule({{a.matmul(b).uop(), Symbol(std::string(device_.name()))}}).back().kernel;
  }
  ~SearchTrials() override { fs::remove_all(folder_); }

  static fs::path new_folder() {
    std::string name = (fs::temp_directory_path() / "weft-trials-XXXXXX").string();
    return mkdtemp(name.data());
  }

  struct Done {
    std::string schedule;
    SearchCounts counts;
    double seconds;
  };
  // What a search finds, with what it counts.
  Done search(int width, int budget) {
    const Context beam{{"BEAM", width}, {"BEAM_BUDGET", budget}};
    const SearchCounts before = search_counts();
    const auto start = std::chrono::steady_clock::now();
    std::string schedule = found_schedule(wanted_, extra_);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const SearchCounts after = search_counts();
    return {std::move(schedule),
            {after.timed - before.timed, after.refused - before.refused,
             after.timed_out - before.timed_out, after.crashed - before.crashed},
            took.count()};
  }
  int runs_of_others() const {
    int runs = 0;
    for (const auto& [source, count] : device_.runs)
      if (source != device_.usual) runs += count;
    return runs;
  }
  std::string usual_schedule() {
    const Context one{{"BEAM", 1}};
    const Target target = device_.target();
    const UOp opened = run_pipeline_until("optimise", {wanted_.kernel}, {.target = target})[0];
    return to_string(candidate_schedules(opened, target, 1)[0]);
  }

  const fs::path folder_;
  Faulty& device_ = new_device();
  KernelFor wanted_{{}, &device_};
  const std::shared_ptr<const ExtraRuleList> extra_ = PassOptions{}.extra;
  Context context_{{"CACHE_DIR", std::string_view(folder_.native())}, {"NOOPT", 0}};
};

TEST_F(SearchTrials, RunEachCandidateInAChildFirst) {
  const pid_t parent = getpid();
  device_.run_other = [&] {
    if (getpid() != parent) std::raise(SIGSEGV);
  };
  EXPECT_GT(search(4, 60).counts.crashed, 2U);
  EXPECT_EQ(runs_of_others(), 0);
  device_.has_children = false;
  EXPECT_EQ(search(5, 60).counts.crashed, 0U);
}

TEST_F(SearchTrials, LeaveOutWhatCrashes) {
  device_.run_other = [] { std::raise(SIGSEGV); };
  const Done done = search(4, 60);
  EXPECT_EQ(done.schedule, usual_schedule());
  EXPECT_GE(done.counts.crashed, 3U);
  EXPECT_EQ(done.counts.timed_out, 0U);
  EXPECT_EQ(runs_of_others(), 0);
  EXPECT_GT(device_.runs[device_.usual], 0);
}

TEST_F(SearchTrials, LeaveOutWhatHangs) {
  device_.run_other = hang;
  const Done done = search(4, 5);
  EXPECT_EQ(done.schedule, usual_schedule());
  EXPECT_GE(done.counts.timed_out, 2U);
  EXPECT_EQ(done.counts.crashed, 0U);
  EXPECT_EQ(runs_of_others(), 0);
  EXPECT_LT(done.seconds, 30);
}

// A candidate has a multiple of the default's time.
TEST_F(SearchTrials, WaitForWhatIsNotMuchSlower) {
  device_.run_usual = [] { std::this_thread::sleep_for(100ms); };
  device_.run_other = [] { std::this_thread::sleep_for(150ms); };
  const Done done = search(3, 5);
  EXPECT_EQ(done.counts.timed_out, 0U);
  EXPECT_GT(runs_of_others(), 0);
  EXPECT_EQ(done.schedule, usual_schedule());
}

TEST_F(SearchTrials, GiveUpWhereTheDefaultHangs) {
  device_.run_usual = hang;
  const Done done = search(4, 1);
  EXPECT_EQ(done.schedule, usual_schedule());
  EXPECT_EQ(done.counts.timed_out, 1U);
  EXPECT_EQ(done.counts.timed, 0U);
  EXPECT_LT(done.seconds, 30);
  EXPECT_EQ(search(4, 1).counts.timed_out, 0U);  // only a larger budget would say more
  EXPECT_EQ(search(4, 2).counts.timed_out, 1U);
}

TEST_F(SearchTrials, FindNothingWhereTheDefaultCrashes) {
  device_.run_usual = [] { std::raise(SIGSEGV); };
  const Done done = search(4, 60);
  EXPECT_EQ(done.schedule, "");
  EXPECT_EQ(done.counts.crashed, 1U);
}

TEST_F(SearchTrials, RefuseWhatIsTooLargeToCompile) {
  device_.padding = 1 << 20;
  const Done done = search(4, 60);
  EXPECT_EQ(done.schedule, usual_schedule());
  EXPECT_GE(done.counts.refused, 3U);
  EXPECT_EQ(runs_of_others(), 0);
  device_.padding = 100;
  EXPECT_GT(search(5, 60).counts.timed, 1U);
}

TEST_F(SearchTrials, GoOnWithALargerBudget) {
  device_.run_usual = device_.run_other = [] { std::this_thread::sleep_for(40ms); };
  search(8, 3);
  const Runs first = device_.runs;
  ASSERT_GT(runs_of_others(), 0);
  EXPECT_EQ(search(8, 3).counts.timed, 0U);
  device_.runs.clear();
  EXPECT_GT(search(8, 8).counts.timed, 2U);
  EXPECT_LE(common(first, device_.runs), 2);  // the default and the best
  EXPECT_GT(device_.runs.size(), 2U);
}

TEST_F(SearchTrials, EndWhereNothingIsLeft) {
  search(2, 60);
  EXPECT_EQ(search(2, 1000).counts.timed, 0U);
  EXPECT_GT(search(3, 60).counts.timed, 0U);
}

// A wider search begins from the best of a narrower one, and does not measure again what that did.
TEST_F(SearchTrials, GoOnWithMoreCandidates) {
  device_.run_usual = [] { std::this_thread::sleep_for(3ms); };
  const Done narrow = search(2, 60);
  EXPECT_NE(narrow.schedule, usual_schedule());
  const Runs first = device_.runs;
  device_.runs.clear();
  device_.run_other = [] { std::this_thread::sleep_for(2ms); };
  const Done wide = search(4, 60);
  EXPECT_EQ(common(first, device_.runs), 2);
  EXPECT_GT(device_.runs.size(), 2U);
}

// A build that knows more of the processor may do better than what another has found.
TEST_F(SearchTrials, BeginAnewWhereOtherInstructionsAreKnown) {
  device_.mma.emplace();
  device_.run_usual = [] { std::this_thread::sleep_for(2ms); };
  search(2, 60);
  const auto kept = [&] { return kept_schedule(wanted_.kernel, device_); };
  EXPECT_NE(kept(), "");
  device_.mma = {*find_mma("avx2_i16i8")};
  EXPECT_EQ(kept(), "");
  device_.mma->clear();
  EXPECT_NE(kept(), "");
}

// What a search found before the program ended is not lost.
TEST_F(SearchTrials, GoOnAfterAProgramThatEnded) {
  device_.has_children = false;
  device_.run_usual = [] { std::this_thread::sleep_for(1ms); };
  device_.run_other = [&] {
    if (device_.runs.size() > 4) throw std::runtime_error("the program ends");
    std::this_thread::sleep_for(100us);
  };
  EXPECT_THROW(search(4, 60), std::runtime_error);  // at the first step from the best
  const Runs first = device_.runs;
  ASSERT_EQ(first.size(), 5U);
  {
    const Context none{{"BEAM", 0}};
    EXPECT_NE(found_schedule(wanted_, extra_), "");
  }
  device_.runs.clear();
  device_.run_other = [] {};
  EXPECT_GT(search(4, 60).counts.timed, 3U);
  EXPECT_LE(common(first, device_.runs), 3);  // the default, the best, and that one
}

}  // namespace
}  // namespace weft
