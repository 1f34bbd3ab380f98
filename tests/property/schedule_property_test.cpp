// Random schedules of random kernels: as machine code, and on the reference device, against the kernel
// without any. Behind every buffer is memory that nobody may touch. WEFT_FULL=1 draws more, WEFT_SEED=n
// only the one.

#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/schedule/kernel.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "../support/errors.h"
#include "../support/guarded.h"
#include "random_schedules.h"

namespace weft {
namespace {

using namespace drawn;

// What a kernel writes into its param 0, from the same numbers each time.
std::vector<float> result_of(Device& device, const UOp& kernel, const Target& target) {
  const UOp lowered = run_pipeline({kernel}, {.target = target})[0];
  std::vector<std::unique_ptr<Guarded>> buffers;
  std::vector<Argument> arguments;
  std::mt19937 numbers(1);
  for (const Node* param : signature_of(lowered.node()).params) {
    std::size_t count = 1;
    if (param != nullptr)
      for (const Node* size : param->dims()) count *= static_cast<std::size_t>(size->lo());
    buffers.push_back(std::make_unique<Guarded>(count * sizeof(float)));
    for (float& number : buffers.back()->as<float>()) number = float(int(numbers() % 17) - 8) / 4;
    arguments.push_back({buffers.back()->data(), 0, buffers.back()->size()});
  }
  const std::string source = device.render(lowered.node());
  device.load(device.compile(source))->run(arguments, {});
  const auto written = buffers[0]->as<float>();
  return {written.begin(), written.end()};
}

std::vector<float> result_of(Device& device, const UOp& kernel) {
  return result_of(device, kernel, device.target());
}

struct Tried {
  int accepted = 0, refused = 0, shared = 0, slides = 0, ahead = 0, batches = 0, online = 0;
};

bool is_of_groups(const UOp& program) {
  return std::ranges::any_of(toposort(program.node()), [](const Node* node) {
    return node->op() == Op::Barrier ||
           (node->op() == Op::Special && node->arg<SpecialArg>().kind != LoopKind::Thread) ||
           (node->op() == Op::Buffer && node->arg<BufferArg>().space == Space::Shared);
  });
}

void expect_near(const std::vector<float>& expected, const std::vector<float>& found,
                 const char* where) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(expected[i], found[i], 1e-4) << "element " << i << where;
}

// Groups on the reference device, both as they were scheduled and as programs, and refused elsewhere.
void compare(const UOp& kernel, const UOp& applied, const std::string& text, bool has_groups) {
  Device &reference = find_device("INTERP"), &cpu = find_device("CPU");
  const std::vector<float> expected = result_of(reference, kernel);
  const UOp shared = run_named("workers", {applied})[0], named = with_schedule(kernel, text);
  const UOp program = run_pipeline({named}, {.target = cpu.target()})[0];
  for (const std::int64_t backward : {0, 1}) {
    const Context order{{"INTERP_BACKWARD", backward}};
    expect_near(expected, result_of(reference, shared), " on INTERP");
    if (has_groups)
      expect_near(expected, result_of(reference, program), " on INTERP, as a program");
  }
  if (is_of_groups(program))
    EXPECT_NE(error_of([&] { cpu.render(program.node()); }).find("work-groups"), std::string::npos);
  else
    expect_near(expected, result_of(cpu, named), " on CPU");
}

std::ptrdiff_t count_of(const UOp& kernel, Op op) {
  return std::ranges::count(toposort(kernel.node()), op, &Node::op);
}

using Makers = std::vector<UOp (*)(Random&)>;

void check(std::uint64_t seed, Tried& tried, const Makers& makers, Schedule (Drawer::*draw)()) {
  Random random(seed);
  Arena arena;
  const InternerScope scope(arena);
  const UOp made = random.any_of(makers)(random);
  const UOp kernel = ready_to_schedule(run_named("simplify", run_named("ranges", {made}))[0]);
  Drawer drawer(random, kernel.node());
  const std::string text = to_string((drawer.*draw)());
  ASSERT_EQ(to_string(parse_schedule(text)), text);
  UOp applied;
  try {
    applied = apply_schedule(kernel, parse_schedule(text));
  } catch (const Error&) {
    ++tried.refused;
    return;
  }
  ++tried.accepted;
  tried.shared += count_of(applied, Op::Barrier) > 0;
  tried.slides += text.find(" slide ") != text.npos;
  tried.batches += text.find("batch ") != text.npos;
  tried.online += text.find("online ") != text.npos;
  tried.ahead += text.find("pipeline ") != text.npos;
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
  try {
    compare(kernel, applied, text, drawer.has_groups());
  } catch (const Error& error) {
    FAIL() << error.what() << "\n" << print_graph("kernel", {{kernel.node()}});
  }
}

Tried check_all(const Makers& makers, Schedule (Drawer::*draw)()) {
  const char* only = std::getenv("WEFT_SEED");
  const std::uint64_t count = std::getenv("WEFT_FULL") != nullptr ? 5000 : 150;
  Tried tried;
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only != nullptr ? first : count;
  for (std::uint64_t seed = first; seed <= last && !testing::Test::HasFatalFailure(); ++seed)
    check(seed, tried, makers, draw);
  return tried;
}

TEST(ScheduleProperty, AnyScheduleComputesTheSame) {
  const Tried tried = check_all({matmul, window, rows, columns, elements, convolution, pool, shares,
                                 column_shares, turned, turned_matmul, weighted},
                                &Drawer::schedule);
  if (tried.accepted + tried.refused < 2) return;
  EXPECT_GT(3 * tried.accepted, tried.refused) << "many schedules should be possible";
  EXPECT_GT(20 * tried.shared, tried.accepted) << "in some, items wait for one another";
}

TEST(ScheduleProperty, IterationsFillMemoryTogether) {
  const Tried tried = check_all({weighted}, &Drawer::schedule);
  if (tried.accepted + tried.refused < 2) return;
  EXPECT_GT(8 * tried.batches, tried.accepted) << "some are batches";
}

TEST(ScheduleProperty, BlocksOfCodesComputeTheSame) {
  const Tried tried = check_all({decoded}, &Drawer::lanes);
  if (tried.accepted + tried.refused < 2) return;
  EXPECT_GT(3 * tried.accepted, tried.refused) << "many schedules should be possible";
}

TEST(ScheduleProperty, SumsAreRelativeToARunningMaximum) {
  const Tried tried = check_all({attention, attention, log_of_sum}, &Drawer::blocks);
  if (tried.accepted + tried.refused < 2) return;
  EXPECT_GT(3 * tried.online, tried.refused) << "many schedules should be possible";
}

TEST(ScheduleProperty, LoopsHandOnWhatIsRead) {
  const Tried tried =
      check_all({matmul, convolution, convolution, pool, turned_matmul}, &Drawer::handing);
  if (tried.accepted + tried.refused < 2) return;
  EXPECT_GT(50 * tried.slides, tried.accepted) << "some slide";
  EXPECT_GT(8 * tried.ahead, tried.accepted) << "some are ahead";
  EXPECT_GT(20 * tried.shared, tried.accepted);
}

// A sum that would be cut into blocks, of which some iterations are left over.
TEST(ScheduleProperty, ALongSumIsReadAhead) {
  Arena arena;
  const InternerScope scope(arena);
  const UOp total = reduce(Op::Add, input(1, {2, 8 * 1021}), {1});
  const UOp made = make_kernel("long_rows", {{output({2, 1}), total}});
  const UOp kernel = ready_to_schedule(run_named("simplify", run_named("ranges", {made}))[0]);
  const std::string text = "tile k0 8; stage p1 at k0; pipeline p1 3";
  compare(kernel, apply_schedule(kernel, parse_schedule(text)), text, true);
}

// For a machine so slow that every kernel is worth threads.
TEST(ScheduleProperty, TheDefaultComputesTheSame) {
  static const std::vector<UOp (*)(Random&)> makers{
      matmul, window,        rows,   columns,       elements, in_place,
      shares, column_shares, turned, turned_matmul, weighted, decoded};
  Device& device = find_device("CPU");
  Target target = device.target();
  target.machine.hertz = 1e3;
  target.machine.set_workers(4);
  for (std::uint64_t seed = 1; seed <= 120 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Arena arena;
    const InternerScope scope(arena);
    const UOp kernel = run_named("ranges", {random.any_of(makers)(random)})[0];
    const std::vector<float> expected = result_of(find_device("INTERP"), kernel);
    const std::vector<float> found = result_of(device, kernel, target);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(expected[i], found[i], 1e-4) << "element " << i;
  }
}

}  // namespace
}  // namespace weft
