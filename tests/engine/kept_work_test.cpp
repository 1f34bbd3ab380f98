// What a process keeps on disk of the way to its kernels.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include <gtest/gtest.h>
#include <weft/dev/base/build_id.h>
#include <weft/dev/base/hash.h>
#include <weft/dev/base/temporary_folder.h>
#include <weft/dev/engine/callers.h>
#include <weft/dev/engine/tuning.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../../src/engine/kept_work.h"
#include "../support/files_in.h"
#include "../support/open_sizes.h"
#include "../support/planned.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

class KeptWork : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string name_ = folder_.path().string();
  Context context_ = Context({{"CACHE_DIR", SettingValue(name_)}});

  void cut_files() const {
    for (const fs::path& file : files_in(folder_.path()))
      fs::resize_file(file, fs::file_size(file) - 3);
  }
};

Rendered example() {
  Rendered rendered;
  rendered.code = std::string("code\nwith 2 lines, ") + '\0' + " and more";
  rendered.variables = {2, 0};
  rendered.is_read = {true, false, true};
  rendered.kept.push_back(
      {.constant = 1, .argument = 3, .bytes = 4096, .source = {}, .name = "n 1", .code = ""});
  rendered.kept.push_back(
      {.constant = 2, .argument = 4, .bytes = 1, .source = {}, .name = "", .code = "x y"});
  return rendered;
}

TEST_F(KeptWork, CompiledKernelsComeBack) {
  EXPECT_FALSE(known_compiled("key"));
  const Rendered kept = example();
  keep_compiled("key", kept);
  auto found = known_compiled("key");
  ASSERT_TRUE(found);
  const Rendered known = found ? std::move(*found) : Rendered();
  EXPECT_EQ(known.code, kept.code);
  EXPECT_EQ(known.variables, kept.variables);
  EXPECT_EQ(known.is_read, kept.is_read);
  ASSERT_EQ(known.kept.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(known.kept[i].constant, kept.kept[i].constant);
    EXPECT_EQ(known.kept[i].argument, kept.kept[i].argument);
    EXPECT_EQ(known.kept[i].bytes, kept.kept[i].bytes);
    EXPECT_EQ(known.kept[i].code, kept.kept[i].code);
    EXPECT_EQ(known.kept[i].name, kept.kept[i].name);
  }
  EXPECT_FALSE(known_compiled("another"));
}

// Two convolutions and a copy to another device.
Tensor planned_tensor() {
  const Tensor image = Tensor::randn({1, 8, 24, 24}).realize();
  const Tensor weights = Tensor::randn({16, 8, 3, 3}).realize();
  const Tensor first = image.conv2d(weights, {}, {.padding = 1}).relu().contiguous();
  const Tensor second = first.conv2d(Tensor::randn({8, 16, 1, 1}).realize());
  return second.to("CPU:1") * 2;
}

std::string graph_of(const Plan& plan) {
  std::vector<const Node*> nodes;
  for (const UOp* name : names_of(plan))
    if (!name->is_null()) nodes.push_back(name->node());
  return print_graph("plan", nodes);
}

void expect_equal(const Step& step, const Step& kept) {
  EXPECT_EQ(step.kernel.is_null(), kept.kernel.is_null());
  EXPECT_EQ(step.device, kept.device);
  EXPECT_EQ(step.slots, kept.slots);
  EXPECT_EQ(step.offset, kept.offset);
  EXPECT_EQ(step.work.flops, kept.work.flops);
  EXPECT_EQ(step.work.bytes, kept.work.bytes);
  EXPECT_EQ(step.work.parallel, kept.work.parallel);
  EXPECT_EQ(step.is_once, kept.is_once);
  EXPECT_EQ(step.values, kept.values);
  EXPECT_EQ(step.origins, kept.origins);
}

void expect_equal(const BufferLayout& layout, const BufferLayout& kept) {
  EXPECT_EQ(layout.kernel, kept.kernel);
  EXPECT_EQ(layout.sizes, kept.sizes);
  EXPECT_EQ(layout.order, kept.order);
  EXPECT_EQ(layout.seconds, kept.seconds);
  EXPECT_EQ(layout.seconds_as_made, kept.seconds_as_made);
}

// One with all that plans may have: maps in another order, steps for each of several bands, and where all come from.
std::unique_ptr<Planned> planned_with_all() {
  const NotingCallers noting;
  const Context bands{{"WINOGRAD_BAND", 8}};
  for (std::uint64_t seed = 1; seed < 1000; ++seed) {
    const KernelSeconds seconds = [&](const UOp& kernel, Symbol) {
      const StructuralHash hash = structural_hash(nodes_of({&kernel, 1}));
      return std::pow(0.1, static_cast<double>(hash_mix(hash.high, seed) % 7));
    };
    auto planned = std::make_unique<Planned>(planned_tensor(), seconds);
    const auto is_repeated = [](const Step& step) {
      return !step.values.empty() && step.values[0] > 0;
    };
    if (!planned->plan().layouts.empty() && std::ranges::any_of(planned->plan().steps, is_repeated))
      return planned;
  }
  return nullptr;
}

TEST_F(KeptWork, PlansComeBack) {
  const std::unique_ptr<Planned> planned = planned_with_all();
  ASSERT_NE(planned, nullptr);
  const Plan& kept = planned->plan();
  ASSERT_TRUE(
      std::ranges::any_of(kept.steps, [](const Step& step) { return step.kernel.is_null(); }));
  ASSERT_FALSE(kept.steps[0].origins.empty());
  keep_plan("key", kept);
  auto found = known_plan("key");
  ASSERT_TRUE(found);
  const Plan known = found ? std::move(*found) : Plan();
  EXPECT_EQ(graph_of(known), graph_of(kept));
  ASSERT_EQ(known.slots.size(), kept.slots.size());
  for (std::size_t i = 0; i < kept.slots.size(); ++i)
    EXPECT_EQ(known.slots[i].input, kept.slots[i].input);
  ASSERT_EQ(known.steps.size(), kept.steps.size());
  for (std::size_t i = 0; i < kept.steps.size(); ++i) expect_equal(known.steps[i], kept.steps[i]);
  ASSERT_EQ(known.layouts.size(), kept.layouts.size());
  for (std::size_t i = 0; i < kept.layouts.size(); ++i)
    expect_equal(known.layouts[i], kept.layouts[i]);
  EXPECT_EQ(known.roots.size(), kept.roots.size());
  EXPECT_FALSE(known_compiled("key"));  // the two are kept apart
}

// Memory that is assigned to, parts on two devices, open sizes, one of which a tensor in parts keeps.
std::vector<float> values_of_several_plans() {
  Tensor::manual_seed(3);
  const Tensor x = Tensor::randn({8, 40}).realize();
  Tensor assigned = Tensor::zeros({40}).contiguous().realize();
  assigned.assign(assigned + x.sum(0)).realize();
  const Dim open = bound_size("n", 2, 40, 5);
  const Tensor shard = x.shard({"CPU", "CPU:1"}, 0);
  const Tensor parts = (first(x, open).shard({"CPU", "CPU:1"}, 0) * 2).realize();
  const std::vector<Tensor> all{assigned, shard.softmax(1).to("CPU").flatten(),
                                first(x, open).exp().sum(1), (parts + 1).sum(1).to("CPU")};
  return Tensor::cat(all).to_vector<float>();
}

TEST_F(KeptWork, PlansThatCameBackRunAsTheyDid) {
  const auto written = [&] {
    std::map<fs::path, fs::file_time_type> times;
    for (const fs::path& file : files_in(folder_.path()))
      times.emplace(file, fs::last_write_time(file));
    return times;
  };
  forget_plans();
  const std::vector<float> made = values_of_several_plans();
  const auto kept = written();
  EXPECT_EQ(kept.empty(), build_id().empty());
  forget_plans();
  EXPECT_EQ(values_of_several_plans(), made);
  EXPECT_EQ(written(), kept);  // nothing was made anew
}

TEST_F(KeptWork, WhatIsDamagedIsNotThere) {
  keep_compiled("key", example());
  keep_plan("key", Planned(planned_tensor(), {}).plan());
  cut_files();
  EXPECT_FALSE(known_compiled("key"));
  EXPECT_FALSE(known_plan("key"));
}

TEST_F(KeptWork, IsMadeAgainWhereSomebodyLooks) {
  const ExtraRuleList none;
  const auto may = [&](const char* name, const char* value) {
    const Context context({{"SPEC", 0}, {"VALIDATE", 0}, {"DEBUG", 0}, {"DUMP", ""}});
    const Context other({{name, value}});
    return may_keep_work(none);
  };
  EXPECT_EQ(may("NOOPT", "0"), !build_id().empty());
  EXPECT_FALSE(may("SPEC", "1"));
  EXPECT_FALSE(may("VALIDATE", "1"));
  EXPECT_FALSE(may("DEBUG", "3"));
  EXPECT_FALSE(may("DUMP", "ranges"));
}

}  // namespace
}  // namespace weft
