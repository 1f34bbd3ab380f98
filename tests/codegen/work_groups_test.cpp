// A convolution whose loops are those of work-groups, by a schedule that is written by hand: 3 x 3 of
// 3 channels to 256, of an image of 64 x 64.

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/settings.h>
#include <weft/weft.h>

namespace weft {
namespace {

// Four blocks of 16 items that compute 4 channels each, of 2 x 2 neighbours: 16 sums an item.
constexpr const char* schedule_text =
    "tile r0 64; tile r0.1 4; tile r1 2; tile r2 2;"
    "order r2 r1 r0 r0.1 k0 k1 k2 r0.2 r1.1 r2.1;"
    "global r2; global r1; global r0; local r0.1; upcast r0.2; upcast r1.1; vector r2.1";

Target pairs_of_floats() {
  return {.lowered = true,
          .ops = OpSet::where([](Op op) { return op != Op::MulAcc; }),
          .kinds = int_kinds | KindSet{Kind::Bool, Kind::F32, Kind::F64},
          .vector_bytes = 8};
}

class Convolution : public testing::Test {
 protected:
  UOp kernel(std::int64_t image, std::int64_t channels) {
    const InternerScope tensors(shared_graph());
    const Tensor result =
        Tensor::empty({1, 3, image, image}).conv2d(Tensor::empty({channels, 3, 3, 3}));
    const auto items = result.schedule();
    EXPECT_EQ(items.size(), 1U);
    return import_graph(nodes_of({&items[0].kernel, 1}), shared_graph(), arena_)[0];
  }
  static UOp by_groups(const UOp& kernel) {
    return run_pipeline({with_schedule(kernel, schedule_text)}, {.target = pairs_of_floats()})[0];
  }
  // What it writes, of the same numbers each time.
  static std::vector<float> result_of(const UOp& kernel) {
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
    return memory[0];
  }

  Arena arena_;
  InternerScope scope_{arena_};
};

// Loads or stores of a PARAM, by its slot and their lanes.
std::map<std::pair<int, std::uint32_t>, int> accesses(const UOp& program, Op op) {
  std::map<std::pair<int, std::uint32_t>, int> counts;
  for (const Node* node : toposort(program.node())) {
    if (node->op() != op) continue;
    const Node* memory = storage_of(node->src(0)->src(0));
    const DType dtype = op == Op::Store ? node->src(1)->dtype() : node->dtype();
    if (memory->op() == Op::Param) ++counts[{memory->arg<ParamArg>().slot, dtype.lanes()}];
  }
  return counts;
}

TEST_F(Convolution, BecomesWorkGroups) {
  const UOp program = by_groups(kernel(64, 256));
  std::map<std::pair<LoopKind, int>, std::int64_t> workers;
  std::map<std::uint32_t, int> registers;  // by lanes
  std::int64_t items = 1;
  for (const Node* node : toposort(program.node())) {
    if (node->op() == Op::Special) {
      const auto& arg = node->arg<SpecialArg>();
      items *= workers[{arg.kind, arg.axis}] = node->src(0)->lo();
    }
    if (node->op() == Op::Buffer) ++registers[node->dtype().lanes()];
  }
  EXPECT_EQ(workers, (decltype(workers){{{LoopKind::Global, 0}, 4},
                                        {{LoopKind::Global, 1}, 31},
                                        {{LoopKind::Global, 2}, 31},
                                        {{LoopKind::Local, 0}, 16}}));
  EXPECT_EQ(items, 61504);
  EXPECT_EQ(items * 16, 62 * 62 * 256);
  EXPECT_EQ(registers, (decltype(registers){{2, 8}}));
  using Accesses = std::map<std::pair<int, std::uint32_t>, int>;
  EXPECT_EQ(accesses(program, Op::Store), (Accesses{{{0, 2}, 8}}));
  EXPECT_EQ(accesses(program, Op::Load), (Accesses{{{1, 2}, 2}, {{2, 1}, 4}}));
}

TEST_F(Convolution, ByWorkGroupsIsTheSame) {
  const UOp plain = kernel(8, 128);
  const std::vector<float> expected = result_of(plain), found = result_of(by_groups(plain));
  ASSERT_EQ(expected.size(), 128U * 6 * 6);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-5) << i;
}

}  // namespace
}  // namespace weft
