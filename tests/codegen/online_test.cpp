// Attention and logarithms of sums with a running maximum, against sums in f64.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/error.h>

#include "../support/errors.h"
#include "../support/kernels.h"

namespace weft {
namespace {

constexpr double nowhere = -HUGE_VAL;

enum class Seen : std::uint8_t { All, Before, Some, Window };  // of the keys, by a row
constexpr std::int64_t seen_back = 20, seen_always = 3;        // of a window

struct Case {
  std::int64_t heads, shared, rows, keys, width;  // so many heads share one of the keys
  Seen seen;
  bool is_guarded;  // rows that see nothing have shares of nothing
};

UOp loop(std::int64_t size) { return range(size, fresh_id().value); }
UOp input(int slot, const std::vector<std::int64_t>& dims) {
  std::vector<UOp> sizes;
  for (const std::int64_t dim : dims) sizes.push_back(size(dim));
  return param(slot, Access::Read, sizes);
}

template <class Value>
UOp over_all(Op op, std::int64_t count, Value value) {
  const UOp k = range(count, fresh_id().value, LoopKind::Reduce);
  return reduce(op, {value(k), k});
}

// A value for each iteration of a loop, kept, and read elsewhere.
auto kept(const UOp& value, const UOp& at) {
  const UOp stage = make(Op::Stage, {value, at}, {}, StageArg{fresh_id(), Space::Scratch, {}});
  return [=](const UOp& here) { return load(place(stage, {here})); };
}

// p0: heads x rows x width; p1: the queries, p2: the keys, p3: their values, p4: rows x keys, what is added to the scores.
UOp attention(const Case& c, bool is_row_by_row = false) {
  const UOp h = loop(c.heads), row = loop(c.rows), column = loop(c.width), key = loop(c.keys),
            again = loop(c.keys), head = h / c.shared;
  const UOp q = input(1, {c.heads, c.rows, c.width}),
            k = input(2, {c.heads / c.shared, c.keys, c.width}),
            v = input(3, {c.heads / c.shared, c.keys, c.width}), mask = input(4, {c.rows, c.keys});
  const UOp nothing = const_float(nowhere, dtypes::f32), zero = const_float(0, dtypes::f32);
  UOp product = over_all(Op::Add, c.width, [&](const UOp& d) {
    return load(place(q, {h, row, d})) * load(place(k, {head, key, d}));
  });
  if (c.seen == Seen::Before) product = where(row < key, nothing, product);
  if (c.seen == Seen::Window)
    product =
        where((key < row + 1) & ((row < key + seen_back) | (key < seen_always)), product, nothing);
  if (c.seen == Seen::Some) product = product + load(place(mask, {row, key}));
  const auto score = kept(product, key);
  const UOp top = over_all(Op::Max, c.keys, score);
  const UOp from = c.is_guarded ? where(top == nothing, zero, top) : top;
  const auto part = kept(make(Op::Exp2, {(score(again) - from) * 1.25}), again);
  const UOp sum = over_all(Op::Add, c.keys, part);
  const UOp value = over_all(
      Op::Add, c.keys, [&](const UOp& j) { return part(j) * load(place(v, {head, j, column})); });
  const UOp all = c.is_guarded ? where(sum == zero, const_float(1, dtypes::f32), sum) : sum;
  const UOp out = place(param(0, Access::Write, {size(c.heads), size(c.rows), size(c.width)}),
                        {h, row, column});
  const std::vector<UOp> loops =
      is_row_by_row ? std::vector{row, h, column} : std::vector{h, row, column};
  return make(Op::Sink, {over(put(out, value / all), loops)}, {}, KernelArg{Symbol("attention")});
}

std::vector<std::vector<float>> numbers(const Case& c) {
  std::mt19937 random(7);
  const auto some = [&](std::int64_t count) {
    std::vector<float> list(static_cast<std::size_t>(count));
    for (float& number : list) number = float(int(random() % 17) - 8) / 8;
    return list;
  };
  const std::int64_t others = c.heads / c.shared * c.keys * c.width;
  std::vector<std::vector<float>> all{some(c.heads * c.rows * c.width),
                                      some(c.heads * c.rows * c.width), some(others), some(others),
                                      some(c.rows * c.keys)};
  // The first row sees nothing, the second the last key alone.
  for (std::size_t i = 0; i < all[4].size(); ++i)
    if (i < static_cast<std::size_t>(2 * c.keys - 1) || all[4][i] < 0) all[4][i] = -HUGE_VALF;
  return all;
}

std::vector<double> expected(const Case& c, const std::vector<std::vector<float>>& in) {
  std::vector<double> result;
  std::vector<double> scores(static_cast<std::size_t>(c.keys));
  const auto at = [](const std::vector<float>& list, std::int64_t i) {
    return double(list[static_cast<std::size_t>(i)]);
  };
  for (std::int64_t h = 0; h < c.heads; ++h)
    for (std::int64_t row = 0; row < c.rows; ++row) {
      const std::int64_t query = (h * c.rows + row) * c.width, first = h / c.shared * c.keys;
      for (std::int64_t j = 0; j < c.keys; ++j) {
        double& score = scores[static_cast<std::size_t>(j)] = 0;
        for (std::int64_t d = 0; d < c.width; ++d)
          score += at(in[1], query + d) * at(in[2], (first + j) * c.width + d);
        if (c.seen == Seen::Before && row < j) score = nowhere;
        const bool is_near = row < j + seen_back || j < seen_always;
        if (c.seen == Seen::Window && (row < j || !is_near)) score = nowhere;
        if (c.seen == Seen::Some) score += at(in[4], row * c.keys + j);
      }
      const double top = *std::ranges::max_element(scores);
      for (double& score : scores)
        score = std::exp2((score - (c.is_guarded && top == nowhere ? 0 : top)) * 1.25);
      const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
      for (std::int64_t d = 0; d < c.width; ++d) {
        double value = 0;
        for (std::int64_t j = 0; j < c.keys; ++j)
          value += scores[static_cast<std::size_t>(j)] * at(in[3], (first + j) * c.width + d);
        result.push_back(c.is_guarded && sum == 0 ? value : value / sum);
      }
    }
  return result;
}

void run(const UOp& kernel, std::string_view device_name, std::vector<std::vector<float>>& in) {
  Device& device = find_device(device_name);
  const UOp program = run_pipeline({kernel}, {.target = device.target()})[0];
  std::vector<Argument> arguments;
  const auto params = signature_of(program.node()).params;
  for (std::size_t i = 0; i < params.size(); ++i)
    arguments.push_back({reinterpret_cast<std::byte*>(in[i].data()), 0, in[i].size() * 4});
  device.load(device.compile(device.render(program.node())))->run(arguments, {});
}

UOp ready(const UOp& kernel) {
  return ready_to_schedule(run_named("simplify", run_named("ranges", {kernel}))[0]);
}

// The loop that finds the maximum.
std::string loop_of_maximum(const UOp& kernel) {
  const UOp given = ready(kernel);
  for (const NamedLoop& named : loops_of_kernel(given.node()))
    for (const Node* node : toposort(given.node()))
      if (node->op() == Op::Reduce && node->arg<ReduceArg>().op == Op::Max &&
          node->src(1) == named.range)
        return named.name;
  return {};
}

class Online : public testing::Test {
  Arena arena_;
  const InternerScope scope_{arena_};
};

void compare(const Case& c, std::string_view device, const std::string& before, int block) {
  const UOp kernel = attention(c);
  const std::string text =
      before + "online " + loop_of_maximum(kernel) + " " + std::to_string(block);
  SCOPED_TRACE(text + " of " + std::to_string(c.keys) + " keys on " + std::string(device));
  std::vector<std::vector<float>> in = numbers(c);
  const std::vector<double> wanted = expected(c, in);
  run(with_schedule(kernel, text), device, in);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (std::isnan(wanted[i]))
      ASSERT_TRUE(std::isnan(in[0][i])) << i << ": " << in[0][i];
    else
      ASSERT_NEAR(wanted[i], in[0][i], 2e-6 * std::max(1.0, std::abs(wanted[i]))) << i;
}

TEST_F(Online, AttentionIsThatOfAllKeysAtOnce) {
  for (const Seen seen : {Seen::All, Seen::Before, Seen::Some, Seen::Window})
    for (const bool is_guarded : {false, true}) {
      const Case c{2, 1, 7, 50, 8, seen, is_guarded};
      for (const int block : {1, 10, 16, 49}) {
        compare(c, "INTERP", "", block);
        compare(c, "CPU", "batch r1 3 shift; ", block);
      }
    }
}

TEST_F(Online, HeadsShareKeysAndHaveAnyWidth) {
  for (const std::int64_t width : {32, 64, 80, 128})
    compare({4, 2, 5, 130, width, Seen::Before, false}, "CPU", "batch r1 5; ", 64);
}

// Scores of a block, whatever the number of keys is.
TEST_F(Online, MemoryDoesNotGrowWithTheKeys) {
  const auto scratch = [](std::int64_t keys) {
    const UOp kernel = attention({2, 1, 64, keys, 16, Seen::All, false});
    const std::string text = "batch r1 16; online " + loop_of_maximum(kernel) + " 32";
    std::int64_t elements = 0;
    for (const Node* node : toposort(apply_schedule(ready(kernel), parse_schedule(text)).node())) {
      if (node->op() != Op::Buffer) continue;
      std::int64_t of_one = 1;
      for (const Node* dim : node->dims()) of_one *= dim->lo();
      elements += of_one;
    }
    return elements;
  };
  EXPECT_EQ(scratch(100), scratch(5000));
  EXPECT_LT(scratch(100), 16 * (2 * 48 + 16 + 8));
}

TEST_F(Online, IsChosenWhereScoresOfAllKeysDoNotFit) {
  Target target{.lowered = true, .ops = {Op::MulAcc}, .vector_bytes = 32};
  target.machine.memory = {
      {32e3, 8, 120e9, false}, {512e3, 8, 45e9, false}, {16e6, 16, 20e9, true}};
  const auto is_chosen = [&](std::int64_t keys) {
    const UOp kernel = ready(attention({1, 1, 96, keys, 64, Seen::All, false}));
    const Schedule chosen = choose_schedule(kernel.node(), target);
    return std::ranges::find(chosen, Action::Online, &Action::type) != chosen.end();
  };
  EXPECT_TRUE(is_chosen(1 << 16));
  EXPECT_FALSE(is_chosen(128));
}

// What the keys that none of so many rows sees would add is not a number.
void expect_hidden(const Case& c, const std::string& before, const std::string& after,
                   std::int64_t seen = 16) {
  const UOp kernel = attention(c);
  const std::string top = loop_of_maximum(kernel);
  const std::string text =
      before + "online " + top + " 16" + (after.starts_with(" ") ? "; tile " + top : "") + after;
  SCOPED_TRACE(text + " of " + std::to_string(c.keys) + " keys");
  std::vector<std::vector<float>> in = numbers(c);
  const std::vector<double> wanted = expected(c, in);
  for (std::int64_t h = 0; h < c.heads; ++h)
    for (std::int64_t i = (h * c.keys + seen) * c.width; i < (h + 1) * c.keys * c.width; ++i)
      in[3][static_cast<std::size_t>(i)] = HUGE_VALF;
  run(with_schedule(kernel, text), "CPU", in);
  for (std::int64_t h = 0; h < c.heads; ++h)
    for (std::int64_t at = 0; at < seen * c.width; ++at) {
      const auto i = static_cast<std::size_t>(h * c.rows * c.width + at);
      ASSERT_NEAR(wanted[i], in[0][i], 2e-6 * std::max(1.0, std::abs(wanted[i]))) << i;
    }
}

TEST_F(Online, BlocksThatAMaskHidesAreNotGoneThrough) {
  for (const Seen seen : {Seen::Before, Seen::Window})
    for (const std::int64_t keys : {64, 50, 63})
      for (const std::string before : {"", "batch r1 16; "}) {
        expect_hidden({2, 1, 48, keys, 8, seen, false}, before, "");
        expect_hidden({2, 1, 48, keys, 8, seen, true}, before, "");
      }
}

// Of a block that a mask hides in part, for each row.
TEST_F(Online, SumsEndWhereTheRestOfABlockIsHidden) {
  for (const Seen seen : {Seen::Before, Seen::Window})
    for (const bool is_guarded : {false, true})
      for (const std::int64_t keys : {64, 48}) {
        const Case c{2, 1, 48, keys, 8, seen, is_guarded};
        expect_hidden(c, "", "", 11);
        expect_hidden(c, "batch r1 16; ", "", 5);
      }
}

// Which iterations a tile of the block leaves over has no say in it.
TEST_F(Online, BlocksAreHiddenHoweverTheMaximumIsTiled) {
  for (const std::string tail : {" 5 remainder", " 4", " 7 mask"})
    expect_hidden({2, 1, 48, 50, 8, Seen::Before, false}, "batch r1 16; ", tail);
}

// Whose number says how many blocks there are.
TEST_F(Online, BlocksAreHiddenInThreadsOfTheRows) {
  for (const std::int64_t keys : {64, 50})
    expect_hidden({2, 1, 48, keys, 8, Seen::Before, false}, "order r1 r0; batch r1 16; ",
                  "; thread r1");
}

// The loops around may become others later.
TEST_F(Online, BlocksAreHiddenInTilesOfTheLoopsAround) {
  const Case c{2, 1, 48, 64, 8, Seen::Before, false};
  const UOp kernel = attention(c);
  const std::string top = loop_of_maximum(kernel);
  const auto sizes_of_blocks = [&](const std::string& more) {
    std::vector<std::string> sizes;
    const UOp scheduled =
        apply_schedule(ready(kernel), parse_schedule("batch r1 16; online " + top + " 16" + more));
    for (const Node* node : toposort(scheduled.node()))
      if (node->op() == Op::Range && !node->src(0)->is_const() &&
          node->arg<RangeArg>().kind == LoopKind::Loop)
        sizes.push_back(std::to_string(node->src(0)->ranges().size()) + " " +
                        std::to_string(node->src(0)->hi()));
    return sizes;
  };
  EXPECT_EQ(sizes_of_blocks(""), std::vector<std::string>{"1 3"});
  EXPECT_EQ(sizes_of_blocks("; tile r1 3"), std::vector<std::string>{"2 3"});
  EXPECT_EQ(sizes_of_blocks("; thread r0"), std::vector<std::string>{"1 3"});
}

// Memory of one element for each key, whatever dimensions of one that element has.
TEST_F(Online, RowsOfABatchAreALineLongerAlongMemory) {
  const UOp row = loop(8), key = loop(256), out = loop(256);
  const UOp x = input(1, {8, 4}), y = input(2, {256, 4});
  const UOp product = over_all(Op::Add, 4, [&](const UOp& d) {
    return load(place(x, {row, d})) * load(place(y, {key, d}));
  });
  const UOp stage =
      make(Op::Stage, {product, key, const_int(0)}, {}, StageArg{fresh_id(), Space::Scratch, {}});
  const UOp top =
      over_all(Op::Max, 256, [&](const UOp& k) { return load(place(stage, {k, const_int(0)})); });
  const UOp value = load(place(stage, {out, const_int(0)})) - top;
  const UOp to = place(param(0, Access::Write, {size(8), size(256)}), {row, out});
  const UOp kernel = make(Op::Sink, {over(put(to, value), {row, out})}, {}, KernelArg{Symbol("k")});
  std::vector<std::int64_t> sizes;
  for (const Node* node :
       toposort(apply_schedule(ready(kernel), parse_schedule("batch r0 4")).node()))
    if (node->op() == Op::Buffer && node->dims().size() == 3)
      for (const Node* dim : node->dims()) sizes.push_back(dim->lo());
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{4, 272, 1}));
}

// Rows of x times halves of the keys' rows y, kept for all rows of x, with a running maximum of these; sums of EXP2.
UOp scores_of_kept_keys(std::int64_t rows, std::int64_t keys) {
  const UOp row = loop(rows), key = loop(keys), again = loop(keys), own = loop(keys), d = loop(4);
  const UOp x = input(1, {rows, 4}), y = input(2, {keys, 4});
  const auto stage_of = [](const UOp& value, const std::vector<UOp>& at) {
    std::vector<UOp> src{value};
    src.insert(src.end(), at.begin(), at.end());
    return make(Op::Stage, src, {}, StageArg{fresh_id(), Space::Scratch, {}});
  };
  const UOp half = stage_of(load(place(y, {own, d})) * 0.5, {own, d});
  const UOp product = over_all(Op::Add, 4, [&](const UOp& k) {
    return load(place(x, {row, k})) * load(place(half, {key, k}));
  });
  const auto score = kept(product, key);
  const UOp top = over_all(Op::Max, keys, score);
  const auto part = kept(make(Op::Exp2, {score(again) - top}), again);
  const UOp out = place(param(0, Access::Write, {size(rows)}), {row});
  return make(Op::Sink, {over(put(out, over_all(Op::Add, keys, part)), {row})}, {},
              KernelArg{Symbol("k")});
}

// Else blocks would stand outside of the rows, each of which would have a state of its own.
TEST_F(Online, WhatIsKeptForAllRowsIsNoPartOfABlock) {
  const UOp kernel = scores_of_kept_keys(9, 50);
  const std::string top = loop_of_maximum(kernel);
  const UOp given = ready(kernel);
  std::string rows;
  for (const NamedLoop& named : loops_of_kernel(given.node()))
    if (named.range->src(0)->is_const_int(9)) rows = named.name;
  for (const std::string& before : {std::string(), "batch " + rows + " 3; "})
    for (const std::string block : {"10", "16"}) {
      const std::string text = before + "online " + top + " " + block;
      for (const std::string_view device : {"INTERP", "CPU"}) {
        std::mt19937 random(3);
        std::vector<std::vector<float>> in{std::vector<float>(9), std::vector<float>(36),
                                           std::vector<float>(200)};
        for (auto& list : in)
          for (float& number : list) number = float(int(random() % 17) - 8) / 8;
        std::vector<double> wanted;
        for (std::size_t r = 0; r < 9; ++r) {
          std::vector<double> scores(50);
          for (std::size_t j = 0; j < 50; ++j)
            for (std::size_t k = 0; k < 4; ++k)
              scores[j] += double(in[1][r * 4 + k]) * double(in[2][j * 4 + k]) / 2;
          const double most = *std::ranges::max_element(scores);
          wanted.push_back(0);
          for (const double score : scores) wanted.back() += std::exp2(score - most);
        }
        run(with_schedule(kernel, text), device, in);
        for (std::size_t r = 0; r < 9; ++r) ASSERT_NEAR(wanted[r], in[0][r], 1e-5) << text;
      }
      std::int64_t most = 0;
      for (const Node* node : toposort(apply_schedule(given, parse_schedule(text)).node()))
        if (node->op() == Op::Buffer && node->dims().size() == 1)
          most = std::max(most, node->dims()[0]->lo());
      EXPECT_LT(most, 9 * 2) << text << ": a state for each row";
    }
}

TEST_F(Online, BlocksDivideTheTripsWhereSomeDo) {
  Target target{.lowered = true, .ops = {Op::MulAcc}, .vector_bytes = 32};
  target.machine.memory = {
      {32e3, 8, 120e9, false}, {512e3, 8, 45e9, false}, {16e6, 16, 20e9, true}};
  const auto block_for = [&](std::int64_t keys) {
    const UOp kernel = ready(attention({1, 1, 96, keys, 64, Seen::All, false}));
    for (const Action& action : choose_schedule(kernel.node(), target))
      if (action.type == Action::Online) return action.count;
    return std::int64_t{0};
  };
  for (const std::int64_t keys : {60000, 63000, 1 << 16}) {
    const std::int64_t block = block_for(keys);
    ASSERT_GT(block, 32) << keys;
    EXPECT_EQ(keys % block, 0) << keys << " in blocks of " << block;
  }
  EXPECT_GT(block_for(65537), 32);  // a prime
}

// Heads do not share keys: a batch is of rows, whichever loop is inside.
TEST_F(Online, BatchesAreOfRowsWhereHeadsStandInside) {
  Target target{.lowered = true, .ops = {Op::MulAcc}, .vector_bytes = 32};
  target.machine.memory = {
      {32e3, 8, 120e9, false}, {512e3, 8, 45e9, false}, {16e6, 16, 20e9, true}};
  const UOp kernel = ready(attention({12, 1, 96, 128, 64, Seen::All, false}, true));
  const Schedule chosen = choose_schedule(kernel.node(), target);
  const std::string text = to_string(chosen);
  EXPECT_TRUE(text.starts_with("order r1 r0; batch r0 ")) << text;
  // No nest changes that order for itself.
  const UOp scheduled = apply_schedule(kernel, chosen);
  EXPECT_TRUE(scheduled.src(0)->src(1)->src(0)->is_const_int(12)) << text;
}

TEST_F(Online, IsRefusedWhereNothingIsRelativeToTheMaximum) {
  const UOp x = input(1, {6, 20}), row = loop(6), column = loop(20);
  const auto top = over_all(Op::Max, 20, [&](const UOp& k) { return load(place(x, {row, k})); });
  const auto kernel_of = [&](const UOp& value, const std::vector<UOp>& at) {
    const UOp out = place(param(0, Access::Write, {size(6), size(20)}), at);
    return make(Op::Sink, {over(put(out, value), at)}, {}, KernelArg{Symbol("k")});
  };
  const auto less = [&](const UOp& k) { return load(place(x, {row, k})) - top; };
  const auto refusal = [](const UOp& kernel, const std::string& text) {
    return error_of([&] { apply_schedule(kernel, parse_schedule(text)); });
  };
  const UOp twice = over_all(Op::Add, 20, [&](const UOp& k) { return less(k) * less(k); });
  EXPECT_EQ(refusal(kernel_of(twice, {row, column}), "online k0 5"),
            "schedule: 'online k0 5': the sums are not all of the form EXP2(c * (x - maximum(x))) "
            "* y, with the same c > 0");
  EXPECT_EQ(refusal(kernel_of(top, {row, column}), "online k0 5"),
            "schedule: 'online k0 5': no sum over as many iterations depends on it");
  const UOp y = input(2, {6, 20});
  const UOp others = over_all(
      Op::Add, 20, [&](const UOp& k) { return make(Op::Exp2, {load(place(y, {row, k})) - top}); });
  EXPECT_EQ(refusal(kernel_of(others, {row, column}), "online k0 5"),
            "schedule: 'online k0 5': the sums are not all of the form EXP2(c * (x - maximum(x))) "
            "* y, with the same c > 0");
  const UOp powers = over_all(Op::Add, 20, [&](const UOp& k) { return make(Op::Exp2, {less(k)}); });
  EXPECT_EQ(refusal(kernel_of(powers, {row, column}), "online k1 5"),
            "schedule: 'online k1 5': it is not the only loop of a float maximum, or its size is "
            "not a constant");
  const UOp n = make(Op::Variable, {}, dtypes::index, VariableArg{Symbol("n"), fresh_id(), 10, 20});
  const UOp k = range(n, fresh_id().value, LoopKind::Reduce),
            j = range(n, fresh_id().value, LoopKind::Reduce);
  const UOp most = reduce(Op::Max, {load(place(x, {row, k})), k});
  const UOp open = reduce(Op::Add, {make(Op::Exp2, {load(place(x, {row, j})) - most}), j});
  EXPECT_EQ(refusal(kernel_of(open, {row, column}), "online k0 5"),
            "schedule: 'online k0 5': it is not the only loop of a float maximum, or its size is "
            "not a constant");
  EXPECT_EQ(refusal(kernel_of(powers, {row, column}), "online k0 20"),
            "schedule: 'online k0 20': it has only 20 iterations");
  EXPECT_EQ(refusal(kernel_of(powers, {row, column}), "online k0 5; unroll o0"),
            "schedule: 'unroll o0': the loop carries memory from one iteration to the next");
}

// A block of the scores is there, and no score of another block.
TEST_F(Online, IsRefusedWhereOneScoreIsReadInAllBlocks) {
  const UOp x = input(1, {6, 20}), row = loop(6), key = loop(20);
  const auto score = kept(load(place(x, {row, key})) * 2.0, key);
  const UOp top = over_all(Op::Max, 20, score);
  const UOp sum = over_all(Op::Add, 20, [&](const UOp& k) {
    return make(Op::Exp2, {score(k) - top}) * score(const_int(3));
  });
  const UOp out = place(param(0, Access::Write, {size(6)}), {row});
  const UOp kernel =
      make(Op::Sink, {over(put(out, sum), std::vector{row})}, {}, KernelArg{Symbol("k")});
  const UOp ready = ready_to_schedule(kernel);
  EXPECT_EQ(error_of([&] { apply_schedule(ready, parse_schedule("online k0 5")); }),
            "schedule: 'online k0 5': memory for its iterations is read at others too");
}

}  // namespace
}  // namespace weft
