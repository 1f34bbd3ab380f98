// Schedules that are chosen for GPUs by their descriptions alone, and what INTERP computes by them.

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/dev/codegen/candidates.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/device/device_model.h>
#include <weft/dev/ir/graph.h>
#include <weft/weft.h>

namespace weft {
namespace {

Target gpu(std::string_view model) {
  return {.lowered = true,
          .ops = OpSet::where([](Op) { return true; }),
          .kinds = int_kinds | KindSet{Kind::Bool, Kind::F32, Kind::F64},
          .machine = find_model(model)};
}

class Groups : public testing::Test {
 protected:
  std::vector<UOp> kernels_of(const Tensor& result) {
    const std::vector<ScheduleItem> items = result.schedule();
    const InternerScope scope(arena_);
    std::vector<UOp> kernels;
    for (const ScheduleItem& item : items)
      kernels.push_back(
          ready_to_schedule(import_graph(nodes_of({&item.kernel, 1}), shared_graph(), arena_)[0]));
    return kernels;
  }

  // The only kernel's.
  std::string chosen(const Tensor& result, std::string_view model) {
    const std::vector<UOp> kernels = kernels_of(result);
    EXPECT_EQ(kernels.size(), 1U);
    const InternerScope scope(arena_);
    return to_string(choose_schedule(kernels[0].node(), gpu(model)));
  }

  // What the kernel writes, of the same numbers each time.
  static std::vector<std::vector<float>> run(const UOp& kernel) {
    Device& device = find_device("INTERP");
    std::vector<std::vector<float>> memory;
    std::vector<Argument> arguments;
    std::mt19937 numbers(1);
    for (const Node* param : signature_of(kernel.node()).params) {
      std::size_t count = 1;
      for (const Node* size : param->dims()) count *= static_cast<std::size_t>(size->lo());
      memory.emplace_back(count);
      for (float& number : memory.back()) number = static_cast<float>(numbers() % 2001) / 1000 - 1;
    }
    for (std::vector<float>& one : memory)
      arguments.push_back({one.data(), 0, one.size() * sizeof(float)});
    device.load(device.compile(device.render(kernel.node())))->run(arguments, {});
    return memory;
  }

  // What is chosen, and up to `most` candidates, whose loops have to be those of the kernel itself.
  void expect_right(const char* name, const Tensor& result, std::size_t most = 2) {
    const std::vector<UOp> kernels = kernels_of(result);
    const InternerScope scope(arena_);
    for (const UOp& kernel : kernels)
      for (const char* model : {"h100", "orin-nano"}) {
        const Target target = gpu(model);
        const auto lowered = [&](const std::string& schedule) {
          return run_pipeline({with_schedule(kernel, schedule)}, {.target = target})[0];
        };
        std::vector<std::string> schedules{""};
        if (most > 0)
          for (const Schedule& schedule : candidate_schedules(kernel, target, most))
            schedules.push_back(to_string(schedule));
        const std::vector<std::vector<float>> expected = run(lowered("none"));
        for (const std::string& schedule : schedules) {
          const UOp program = lowered(schedule);
          if (schedule.empty()) {
            EXPECT_TRUE(has_items(program)) << name << " on " << model;
          }
          const std::vector<std::vector<float>> found = run(program);
          for (std::size_t m = 0; m < expected.size(); ++m)
            for (std::size_t i = 0; i < expected[m].size(); ++i)
              ASSERT_NEAR(found[m][i], expected[m][i], 1e-4 * (1 + std::abs(expected[m][i])))
                  << name << " on " << model << ": " << schedule << ", element " << i;
        }
      }
  }
  static bool has_items(const UOp& program) {
    return std::ranges::any_of(toposort(program.node()), [](const Node* node) {
      return node->op() == Op::Special && node->arg<SpecialArg>().kind == LoopKind::Local;
    });
  }

  Arena arena_;
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Tensor of(const std::vector<std::int64_t>& sizes) { return Tensor::empty(Shape(sizes)); }

TEST_F(Groups, MatrixProductsStageTilesInSharedMemory) {
  for (const char* model : {"h100", "a100", "orin-nano"}) {
    const std::string text = chosen(of({1024, 1024}).matmul(of({1024, 1024})), model);
    EXPECT_TRUE(contains(text, "global r0; global r1; local")) << text;
    EXPECT_TRUE(contains(text, "stage p1 at k0 in shared")) << text;
    EXPECT_TRUE(contains(text, "stage p2 at k0 in shared")) << text;
    EXPECT_TRUE(contains(text, "upcast")) << text;
  }
}

TEST_F(Groups, NeighboursReadNeighbours) {
  const std::string text = chosen(of({1 << 16}) + of({1 << 16}), "h100");
  EXPECT_TRUE(contains(text, "local r0")) << text;
  // Sums along rows: items share a row.
  EXPECT_TRUE(contains(chosen(of({64, 8192}).sum(1), "h100"), "group k0"));
  // And along columns they go along the row.
  EXPECT_TRUE(contains(chosen(of({64, 65536}).sum(0), "h100"), "local r0"));
}

TEST_F(Groups, SoftmaxIsOneKernelWhoseItemsShareRows) {
  const std::string text = chosen(of({512, 1024}).softmax(1), "h100");
  EXPECT_TRUE(contains(text, "global r0")) << text;
  EXPECT_TRUE(contains(text, "group k0")) << text;
  EXPECT_TRUE(contains(text, "group k1")) << text;
  EXPECT_TRUE(contains(text, "local r1.1")) << text;
}

TEST_F(Groups, AreRight) {
  expect_right("elementwise", of({300}) * of({300}) + 1);
  expect_right("broadcast", of({17, 70}) + of({17, 1}));
  expect_right("transpose", (of({70, 33}).transpose(0, 1) + 1).contiguous());
  expect_right("rows", of({9, 200}).sum(1));
  expect_right("columns", of({130, 40}).sum(0));
  expect_right("all", of({4096}).sum());
  expect_right("maxima", of({9, 200}).max(1));
  expect_right("matrix", of({34, 21}).matmul(of({21, 40})));
  expect_right("vector", of({1, 64}).matmul(of({64, 40})));
  expect_right("batches", of({2, 17, 12}).matmul(of({2, 12, 20})));
  expect_right("transposed", of({20, 34}).transpose(0, 1).matmul(of({20, 18})));
}

TEST_F(Groups, AreRightForLayers) {
  expect_right("convolution", of({1, 5, 9, 10}).conv2d(of({6, 5, 3, 3})));
  expect_right("padded", of({1, 4, 8, 8}).conv2d(of({4, 4, 3, 3}), {.padding = 1}));
  expect_right("strided", of({1, 3, 15, 15}).conv2d(of({8, 3, 3, 3}), {.stride = 2}));
  expect_right("depthwise", of({1, 8, 12, 12}).conv2d(of({8, 1, 3, 3}), {.groups = 8}));
  expect_right("pool", of({1, 6, 12, 12}).max_pool2d({2, 2}));
  expect_right("softmax", of({6, 100}).softmax(1));
  expect_right("layer norm", of({5, 96}).layernorm());
  expect_right("concatenation", Tensor::cat({of({5, 20}) + 1, of({7, 20}) * 2}, 0), 0);
  expect_right("attention",
               of({2, 20, 16}).scaled_dot_product_attention(of({2, 20, 16}), of({2, 20, 16})));
}

// Items that share the outer reduction would each have another part of the inner one.
TEST_F(Groups, AreRightForReductionsOfReductions) {
  expect_right("maxima of products", of({9, 20}).matmul(of({20, 70})).max(1));
  expect_right("gated",
               of({16, 24}).matmul(of({24, 40})) * of({16, 24}).matmul(of({24, 40})).sigmoid());
  expect_right("scan", of({4, 40}).cumsum(1), 0);
  expect_right("five axes", of({2, 3, 4, 3, 20}) + of({2, 1, 4, 1, 20}));
}

TEST(DeviceModels, AreKnownByName) {
  for (const std::string& name : known_models()) EXPECT_EQ(find_model(name).name, name);
  EXPECT_TRUE(find_model("h100").has_groups());
  EXPECT_FALSE(DeviceModel().has_groups());
  try {
    find_model("h1000");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "no model of a device 'h1000'; there are h100, "))
        << error.what();
  }
}

}  // namespace
}  // namespace weft
