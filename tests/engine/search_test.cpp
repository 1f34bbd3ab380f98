// BEAM: what a search finds and keeps, and what becomes of it in the file and in texts.

#include "../../src/engine/search.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <weft/dev/codegen/candidates.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/engine/realize.h>
#include <weft/dev/engine/schedule.h>
#include <weft/dev/engine/tuning.h>
#include <weft/settings.h>
#include <weft/weft.h>

namespace weft {
namespace {

namespace fs = std::filesystem;

class Searches : public testing::Test {
 protected:
  Searches() : folder_(new_folder()) {}
  ~Searches() override { fs::remove_all(folder_); }

  static fs::path new_folder() {
    std::string name = (fs::temp_directory_path() / "weft-search-XXXXXX").string();
    return mkdtemp(name.data());
  }

  // Of a size that no other test has: a program that is loaded would not be made again.
  static Tensor product(std::int64_t size) {
    const Tensor a = Tensor::arange(size * 24).reshape({size, 24}).cast(dtypes::f32).contiguous();
    const Tensor b = Tensor::arange(24 * 40).reshape({24, 40}).cast(dtypes::f32).contiguous();
    Tensor::realize({a, b});
    return a.matmul(b);
  }
  static void expect_product(const Tensor& product, std::int64_t size) {
    const std::vector<float> values = product.to_vector<float>();
    ASSERT_EQ(std::ssize(values), size * 40);
    for (std::int64_t row = 0; row < size; ++row)
      for (std::int64_t column = 0; column < 40; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < 24; ++k)
          sum += static_cast<double>((row * 24 + k) * (k * 40 + column));
        ASSERT_NEAR(values[static_cast<std::size_t>(row * 40 + column)] / std::max(sum, 1.0),
                    sum / std::max(sum, 1.0), 1e-5);
      }
  }
  static KernelFor kernel_of(const Tensor& tensor) {
    const auto items = schedule({{tensor.uop(), Symbol("CPU")}});
    return {items.back().kernel, &find_device("CPU")};
  }
  std::string found(const KernelFor& wanted) { return found_schedule(wanted, extra_); }

  const fs::path folder_;
  const std::shared_ptr<const ExtraRuleList> extra_ = PassOptions{}.extra;
  Context context_{{"DEV", "CPU"},
                   {"CACHE_DIR", std::string_view(folder_.native())},
                   {"BEAM", 0},
                   {"BEAM_BUDGET", 1},
                   {"NOOPT", 0}};
};

TEST_F(Searches, FindAScheduleAndTheResultIsRight) {
  const Context beam{{"BEAM", 2}};
  const std::uint64_t before = search_counts().timed;
  expect_product(product(17), 17);
  EXPECT_GE(search_counts().timed, before + 2);
  EXPECT_TRUE(has_tunings());
}

TEST_F(Searches, BeginWhenBeamIsTurnedOn) {
  expect_product(product(31), 31);
  const std::uint64_t before = search_counts().timed;
  const Context beam{{"BEAM", 2}};
  expect_product(product(31), 31);
  EXPECT_GE(search_counts().timed, before + 2);
}

TEST_F(Searches, MeasureNothingWhereTheStoreIsFull) {
  const KernelFor wanted = kernel_of(product(18));
  const auto timed_by = [&](int width) {
    const Context beam{{"BEAM", width}};
    const std::uint64_t before = search_counts().timed;
    found(wanted);
    return search_counts().timed - before;
  };
  EXPECT_GT(timed_by(2), 0U);
  EXPECT_EQ(timed_by(2), 0U);
  EXPECT_GT(timed_by(3), 0U);  // a wider search has not been done
  EXPECT_EQ(timed_by(2), 0U);
}

TEST_F(Searches, AreUsedWithoutBeam) {
  const KernelFor wanted = kernel_of(product(19));
  EXPECT_EQ(found(wanted), "");
  std::string best;
  {
    const Context beam{{"BEAM", 2}};
    best = found(wanted);
  }
  EXPECT_FALSE(best.empty());
  EXPECT_EQ(found(wanted), best);
  const Context plain{{"NOOPT", 1}};
  EXPECT_EQ(found(wanted), "");
}

TEST_F(Searches, AreNotSlowerThanTheDefault) {
  const Context beam{{"BEAM", 4}};
  found(kernel_of(product(20)));
  std::istringstream text(export_tunings());
  std::string line;
  for (int i = 0; i < 2; ++i) std::getline(text, line);
  std::vector<std::string> fields;
  std::istringstream rest(line);
  for (std::string field; std::getline(rest, field, '\t');) fields.push_back(field);
  ASSERT_EQ(fields.size(), 6U);
  EXPECT_EQ(fields[2], "4");
  EXPECT_GT(std::stod(fields[3]), 0);
  EXPECT_LE(std::stod(fields[3]), std::stod(fields[4]));
}

TEST_F(Searches, EndWhereTheyAreToldToAndGoOnLater) {
  const auto [kernel, device] = kernel_of(product(26));
  const auto stopped = tune(kernel, *device, {.seconds = 60, .stops = [] { return true; }});
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(stopped->is_done);
  ASSERT_EQ(count_tunings(), 1U);
  std::uint64_t told = 0;
  const auto done =
      tune(kernel, *device, {.seconds = 60, .tell = [&](const SearchProgress& progress) {
                               told = std::max(told, progress.timed);
                               EXPECT_GT(progress.fastest, 0);
                             }});
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->is_done);
  EXPECT_GT(done->spent, stopped->spent);
  EXPECT_GE(told, 2U);
  EXPECT_EQ(kept_schedule(kernel, *device), done->schedule);
  EXPECT_EQ(count_tunings(), 1U);
  clear_tunings();
  EXPECT_EQ(count_tunings(), 0U);
  EXPECT_EQ(kept_schedule(kernel, *device), "");
}

TEST_F(Searches, HaveNothingToSayOfKernelsWithoutAChoice) {
  const Context plain{{"NOOPT", 1}};
  const auto [kernel, device] = kernel_of(product(27));
  EXPECT_FALSE(tune(kernel, *device, {.seconds = 1}));
}

TEST_F(Searches, AreFoundByPlansThatAreMadeLater) {
  const auto compiles = [&] {
    const Context loud{{"DEBUG", 3}};
    testing::internal::CaptureStderr();
    product(28).realize();
    return testing::internal::GetCapturedStderr().find("// r_28_40_24 for CPU\n") !=
           std::string::npos;
  };
  EXPECT_TRUE(compiles());
  const auto [kernel, device] = kernel_of(product(28));
  auto tuning = tune(kernel, *device, {.width = 1, .seconds = 0.1});
  ASSERT_TRUE(tuning);
  tuning->schedule = "tile r1 8; vector r1.1";
  keep_tuning(*tuning);
  EXPECT_FALSE(compiles());
  forget_plans();
  EXPECT_TRUE(compiles());
}

TEST_F(Searches, SkipAndCountWhatIsRefused) {
  const KernelFor wanted = kernel_of(product(23));  // 23 rows: few tiles divide them
  const Context beam{{"BEAM", 2}, {"BEAM_BUDGET", 60}};
  const std::uint64_t before = search_counts().refused;
  found(wanted);
  EXPECT_GT(search_counts().refused, before);
}

TEST_F(Searches, GoAsTextToOtherFolders) {
  const KernelFor wanted = kernel_of(product(21));
  std::string best;
  {
    const Context beam{{"BEAM", 2}};
    best = found(wanted);
  }
  const std::string text = export_tunings();
  const fs::path other = new_folder();
  {
    const Context elsewhere{{"CACHE_DIR", std::string_view(other.native())}};
    EXPECT_EQ(found(wanted), "");
    EXPECT_EQ(import_tunings("something else\n" + text), 0U);
    EXPECT_EQ(import_tunings(text + "not\ta line\n"), 1U);
    EXPECT_EQ(found(wanted), best);
    EXPECT_EQ(export_tunings(), text);
  }
  fs::remove_all(other);
}

TEST_F(Searches, GoWithoutEntriesThatAreNoSchedules) {
  const Tensor wanted = product(22);
  {
    const Context beam{{"BEAM", 2}};
    found(kernel_of(wanted));
  }
  for (const char* wrong : {"tile", "upcast r9", "order k0 k0", "\x01\xff"}) {
    const std::string text = export_tunings();
    const std::size_t line = text.rfind('\t') + 1;
    ASSERT_EQ(import_tunings(text.substr(0, line) + wrong + "\n"), 1U);
    EXPECT_EQ(found(kernel_of(wanted)), wrong);
    expect_product(product(22), 22);
  }
}

TEST_F(Searches, BeginAnewWhereTheFileIsDamaged) {
  std::ofstream(folder_ / "schedules.sqlite") << "this is no database, and long enough to be seen";
  const KernelFor wanted = kernel_of(product(25));
  EXPECT_EQ(found(wanted), "");
  keep_tuning({.kernel = "k", .device = "d", .schedule = "s", .width = 3});
  const auto kept = find_tuning("k", "d");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->schedule, "s");
  EXPECT_EQ(kept->width, 3);
}

TEST_F(Searches, AreKeptInMemoryWithoutAFolder) {
  const Context nowhere{{"CACHE_DIR", "none"}};
  keep_tuning({.kernel = "in memory", .device = "d", .schedule = "s"});
  EXPECT_TRUE(find_tuning("in memory", "d"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Searches, GoOnWhereNothingCanBeKept) {
  const Context nowhere{{"CACHE_DIR", "/proc/no/such/folder"}, {"BEAM", 2}};
  expect_product(product(27), 27);
  EXPECT_EQ(import_tunings("weft tuning 1\nk\td\t1\t1\t1\ts\n"), 1U);
  EXPECT_FALSE(find_tuning("k", "d"));
}

TEST_F(Searches, BeginWithWhatTheModelChooses) {
  const KernelFor wanted = kernel_of(product(26));
  const Target target = wanted.device->target();
  const UOp opened = run_pipeline_until("optimise", {wanted.kernel}, {.target = target})[0];
  const auto one = candidate_schedules(opened, target, 1);
  const auto four = candidate_schedules(opened, target, 4);
  ASSERT_EQ(one.size(), 1U);
  ASSERT_EQ(four.size(), 4U);
  EXPECT_EQ(four[0], one[0]);
  for (std::size_t i = 0; i < four.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(four[i], four[j]);
  const Schedule from =
      parse_schedule("tile r0 4; order r1 r0 r0.1 k0; stage p1 at r1; upcast r0.1");
  const auto steps = neighbours(opened, from);
  const auto has = [&](std::string_view text) {
    return std::ranges::find(steps, parse_schedule(text)) != steps.end();
  };
  EXPECT_TRUE(has("tile r0 8; order r1 r0 r0.1 k0; stage p1 at r1; upcast r0.1"));
  EXPECT_TRUE(has("tile r0 3; order r1 r0 r0.1 k0; stage p1 at r1; upcast r0.1"));
  EXPECT_TRUE(has("tile r0 4; order r0 r1 r0.1 k0; stage p1 at r1; upcast r0.1"));
  EXPECT_TRUE(has("tile r0 4; order r1 r0 r0.1 k0; upcast r0.1"));
  EXPECT_TRUE(has("tile r0 4; order r1 r0 r0.1 k0; stage p2 at r0; stage p1 at r1; upcast r0.1"));
  EXPECT_FALSE(has("tile r0 4; order r1 r0 r0.1 k0; stage p1 at r1; upcast r0.1"));
}

}  // namespace
}  // namespace weft
