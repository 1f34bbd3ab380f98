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
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/schedule/kernel.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "../support/errors.h"
#include "../support/guarded.h"
#include "../support/kernels.h"

namespace weft {
namespace {

using Sizes = std::vector<std::int64_t>;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t in(std::int64_t lo, std::int64_t hi) {
    return std::uniform_int_distribution<std::int64_t>(lo, hi)(engine_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(engine_); }
  template <class T>
  const T& any_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(in(0, std::ssize(list) - 1))];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    std::shuffle(list.begin(), list.end(), engine_);
  }

 private:
  std::mt19937_64 engine_;
};

UOp input(int slot, const Sizes& sizes) {
  std::vector<UOp> dims;
  for (std::int64_t size : sizes) dims.push_back(const_int(size));
  return param(slot, Access::Read, dims);
}

UOp output(const Sizes& sizes) {
  std::vector<UOp> dims;
  for (std::int64_t size : sizes) dims.push_back(const_int(size));
  return param(0, Access::Write, dims);
}

UOp spread(const UOp& x, const Sizes& shape, const Sizes& sizes) {
  return expand(reshape(x, constant_sizes(shape)), constant_sizes(sizes));
}

UOp matmul(Random& random) {
  const std::int64_t m = random.in(1, 30), n = random.in(1, 40), k = random.in(1, 30);
  const UOp a = input(1, {m, k}), b = input(2, {k, n});
  const UOp product =
      spread(a, {m, 1, k}, {m, n, k}) * spread(permute(b, {1, 0}), {1, n, k}, {m, n, k});
  UOp sum = reduce(Op::Add, product, {2});
  if (random.chance(0.5)) sum = sum + spread(input(3, {n}), {1, n, 1}, {m, n, 1});
  return make_kernel("matmul", {{output({m, n, 1}), sum}});
}

UOp window(Random& random) {
  const std::int64_t c = random.in(1, 5), y = random.in(3, 12), x = random.in(3, 20);
  const UOp padded = pad(input(1, {c, y, x}), constant_sizes({0, 1, 1}), constant_sizes({0, 1, 1}));
  UOp sum;
  for (std::int64_t dy : {0, 1, 2})
    for (std::int64_t dx : {0, 1, 2}) {
      const UOp part = shrink(padded, constant_sizes({0, dy, dx}), constant_sizes({c, y, x}));
      sum = sum.is_null() ? part : sum + part * float(dy + 2 * dx);
    }
  return make_kernel("window", {{output({1, y, x}), reduce(Op::Add, sum, {0})}});
}

UOp rows(Random& random) {
  const std::int64_t m = random.in(1, 20), n = random.in(1, 70);
  const UOp x = input(1, {m, n});
  const UOp centred = reduce(random.chance(0.5) ? Op::Add : Op::Max, x, {1});
  return make_kernel("rows", {{output({m, 1}), centred * 0.5 + reduce(Op::Max, x * x, {1})}});
}

UOp columns(Random& random) {
  const std::int64_t m = random.in(1, 40), n = random.in(1, 40);
  return make_kernel("columns", {{output({1, n}), reduce(Op::Add, input(1, {m, n}), {0})}});
}

UOp elements(Random& random) {
  const std::int64_t m = random.in(1, 20), n = random.in(1, 40);
  const UOp x = input(1, {m, n}), y = permute(input(2, {n, m}), {1, 0});
  return make_kernel("elements", {{output({m, n}), x * 2.0 + y}});
}

// Read along one loop, written along the other; sizes that tiles of registers fill.
UOp turned(Random& random) {
  const std::int64_t m = 4 * random.in(1, 9), n = 4 * random.in(1, 9), b = random.in(1, 3);
  const UOp x = permute(input(1, {b, n, m}), {0, 2, 1});
  return make_kernel("turned", {{output({b, m, n}), random.chance(0.5) ? x : x + x * x}});
}

// A transposed operand on either side.
UOp turned_matmul(Random& random) {
  const std::int64_t m = 4 * random.in(1, 6), n = 4 * random.in(1, 9), k = 4 * random.in(1, 6);
  const bool is_left = random.chance(0.5);
  const UOp a = is_left ? permute(input(1, {k, m}), {1, 0}) : input(1, {m, k});
  const UOp b = is_left ? permute(input(2, {k, n}), {1, 0}) : input(2, {n, k});
  const UOp product = spread(a, {m, 1, k}, {m, n, k}) * spread(b, {1, n, k}, {m, n, k});
  return make_kernel("turned_matmul", {{output({m, n, 1}), reduce(Op::Add, product, {2})}});
}

// Windows at a distance, that reach beyond the image.
UOp convolution(Random& random) {
  const std::int64_t y = random.in(1, 9), x = random.in(1, 20), step = random.in(1, 4);
  const UOp image = input(1, {y * step + 1, x * step + 1}), weights = input(2, {3, 3});
  const UOp oy = range(y, fresh_id().value), ox = range(x, fresh_id().value);
  const UOp ky = range(3, fresh_id().value, LoopKind::Reduce);
  const UOp kx = range(3, fresh_id().value, LoopKind::Reduce);
  const UOp iy = oy * step + ky - 1, ix = ox * step + (2 - kx) - 1;
  const UOp inside = (iy >= 0) & (iy < y * step + 1) & (ix >= 0) & (ix < x * step + 1);
  const UOp product = load(place(image, {iy, ix}, inside)) * load(place(weights, {ky, kx}));
  const UOp sum = reduce(Op::Add, std::vector<UOp>{product, ky, kx});
  return make(Op::Sink, {over(put(place(output({y, x}), {oy, ox}), sum), {oy, ox})}, {},
              KernelArg{Symbol("convolution")});
}

// Memory that is written where it is read: nothing may be computed twice.
UOp in_place(Random& random) {
  const std::int64_t m = random.in(1, 9), n = random.in(1, 70);
  const UOp x = param(0, Access::ReadWrite, {const_int(m), const_int(n)});
  const UOp y = spread(input(1, {n}), {1, n}, {m, n});
  return make_kernel("in_place", {{x, x * 2.0 + y}});
}

UOp looped(std::int64_t size, LoopKind kind = LoopKind::Loop) {
  return range(size, fresh_id().value, kind);
}

// A softmax without its exponentials: sums of what the output needs again.
UOp shares(Random& random) {
  const std::int64_t m = random.in(1, 12), n = random.in(1, 70);
  const UOp x = input(1, {m, n}), row = looped(m), column = looped(n);
  const UOp k = looped(n, LoopKind::Reduce), j = looped(n, LoopKind::Reduce);
  const UOp top = reduce(Op::Max, std::vector<UOp>{load(place(x, {row, j})), j});
  const auto part = [&](const UOp& at) {
    const UOp less = load(place(x, {row, at})) - top;
    return less * less * 0.25 + 1.0;
  };
  const UOp sum = reduce(Op::Add, std::vector<UOp>{part(k), k});
  const UOp out = put(place(output({m, n}), {row, column}), part(column) / sum);
  return make(Op::Sink, {over(out, {row, column})}, {}, KernelArg{Symbol("shares")});
}

// The same of each column, computed before all rows.
UOp column_shares(Random& random) {
  const std::int64_t m = random.in(1, 30), n = random.in(1, 70);
  const UOp x = input(1, {m, n}), row = looped(m), column = looped(n);
  const auto of_columns = [&](Op op, auto value) {
    const UOp at = looped(n), k = looped(m, LoopKind::Reduce);
    const UOp found = reduce(op, std::vector<UOp>{value(k, at), k});
    const UOp stage = make(Op::Stage, {found, at}, {}, StageArg{fresh_id(), Space::Scratch, {}});
    return [=](const UOp& here) { return load(place(stage, {here})); };
  };
  const auto top =
      of_columns(Op::Max, [&](const UOp& r, const UOp& c) { return load(place(x, {r, c})); });
  const auto less = [&](const UOp& r, const UOp& c) { return load(place(x, {r, c})) - top(c); };
  const auto sum = of_columns(Op::Add, less);
  const UOp out =
      put(place(output({m, n}), {row, column}), less(row, column) / (sum(column) - 1.0));
  return make(Op::Sink, {over(out, {row, column})}, {}, KernelArg{Symbol("column_shares")});
}

// Of each row the products with all rows of another matrix, and shares of those as factors: two stages and three sums.
UOp weighted(Random& random) {
  const std::int64_t m = random.in(1, 14), n = random.in(1, 40), d = random.in(1, 6),
                     w = random.in(1, 20);
  const UOp rows = input(1, {m, d}), keys = input(2, {n, d}), values = input(3, {n, w});
  const UOp row = looped(m), column = looped(w);
  const auto staged = [](const UOp& value, const UOp& at) {
    const UOp stage = make(Op::Stage, {value, at}, {}, StageArg{fresh_id(), Space::Scratch, {}});
    return [=](const UOp& here) { return load(place(stage, {here})); };
  };
  const auto sum = [&](Op op, std::int64_t size, auto value) {
    const UOp k = looped(size, LoopKind::Reduce);
    return reduce(op, std::vector<UOp>{value(k), k});
  };
  const UOp key = looped(n), again = looped(n);
  const auto score = staged(
      sum(Op::Add, d,
          [&](const UOp& k) { return load(place(rows, {row, k})) * load(place(keys, {key, k})); }),
      key);
  const UOp less = (score(again) - sum(Op::Max, n, score)) * 0.125;
  const auto part = staged(less * less + 1.0, again);
  const UOp value =
      sum(Op::Add, n, [&](const UOp& k) { return part(k) * load(place(values, {k, column})); });
  const UOp out = put(place(output({m, w}), {row, column}), value / sum(Op::Add, n, part));
  return make(Op::Sink, {over(out, {row, column})}, {}, KernelArg{Symbol("weighted")});
}

// Of each row the sum of products with codes of blocks, which have a scale and an offset, some for each part of a block.
UOp decoded(Random& random) {
  const std::int64_t m = random.in(1, 3), n = random.in(1, 20), b = random.in(1, 6),
                     p = random.in(1, 3), s = random.in(1, 17);
  const UOp row = looped(m), column = looped(n), block = looped(b, LoopKind::Reduce),
            part = looped(p, LoopKind::Reduce), i = looped(s, LoopKind::Reduce);
  const bool is_of_parts = random.chance(0.5), is_turned = random.chance(0.5);
  const UOp x = load(place(input(1, {m, b, p, s}), {row, block, part, i}));
  const UOp packed = is_turned ? load(place(input(2, {b, p, s, n}), {block, part, i, column}))
                               : load(place(input(2, {n, b, p, s}), {column, block, part, i}));
  const UOp code = cast(cast(packed * 4.0, dtypes::i8), dtypes::f32);
  const auto of_block = [&](int slot) {
    return is_of_parts ? load(place(input(slot, {n, b, p}), {column, block, part}))
                       : load(place(input(slot, {n, b}), {column, block}));
  };
  const UOp scaled = code * of_block(3), offset = of_block(4);
  const std::vector<UOp> weights{scaled - offset, scaled + offset, offset - scaled, scaled,
                                 (code - 8.0) * of_block(3)};
  const UOp sum = reduce(Op::Add, std::vector<UOp>{x * random.any_of(weights), block, part, i});
  const UOp out = put(place(output({m, n}), {row, column}), sum);
  return make(Op::Sink, {over(out, {row, column})}, {}, KernelArg{Symbol("decoded")});
}

// Shares by EXP2 of distances from a maximum, of rows of which some see few columns and the first one none.
UOp attention(Random& random) {
  const std::int64_t m = random.in(1, 14), n = random.in(2, 40), d = random.in(1, 6),
                     w = random.in(1, 20);
  const UOp rows = input(1, {m, d}), keys = input(2, {n, d}), values = input(3, {n, w});
  const UOp row = looped(m), column = looped(w), key = looped(n), again = looped(n);
  const auto staged = [](const UOp& value, const UOp& at) {
    const UOp stage = make(Op::Stage, {value, at}, {}, StageArg{fresh_id(), Space::Scratch, {}});
    return [=](const UOp& here) { return load(place(stage, {here})); };
  };
  const auto over_all = [](Op op, std::int64_t size, auto value) {
    const UOp k = looped(size, LoopKind::Reduce);
    return reduce(op, std::vector<UOp>{value(k), k});
  };
  const UOp nothing = const_float(-HUGE_VAL, dtypes::f32);
  const UOp product = over_all(Op::Add, d, [&](const UOp& k) {
    return load(place(rows, {row, k})) * load(place(keys, {key, k}));
  });
  const auto score = staged(random.chance(0.5) ? where(key < row, product, nothing) : product, key);
  const UOp top = over_all(Op::Max, n, score);
  const UOp less = score(again) - where(top == nothing, const_float(0.0, dtypes::f32), top);
  const auto part = staged(make(Op::Exp2, {less * 0.75}), again);
  const UOp value = over_all(
      Op::Add, n, [&](const UOp& k) { return part(k) * load(place(values, {k, column})); });
  const UOp sum = over_all(Op::Add, n, part);
  const UOp shared = value / where(sum == 0.0, const_float(1.0, dtypes::f32), sum);
  const UOp out = put(place(output({m, w}), {row, column}), shared);
  return make(Op::Sink, {over(out, {row, column})}, {}, KernelArg{Symbol("attention")});
}

// The logarithm of a sum of powers: nothing is kept.
UOp log_of_sum(Random& random) {
  const std::int64_t m = random.in(1, 12), n = random.in(2, 70);
  const UOp x = input(1, {m, n}), row = looped(m);
  const UOp k = looped(n, LoopKind::Reduce), j = looped(n, LoopKind::Reduce);
  const UOp top = reduce(Op::Max, std::vector<UOp>{load(place(x, {row, j})), j});
  const UOp power = make(Op::Exp2, {load(place(x, {row, k})) - top});
  const UOp sum = reduce(Op::Add, std::vector<UOp>{power, k});
  const UOp out = put(place(output({m}), {row}), top + make(Op::Log2, {sum}));
  return make(Op::Sink, {over(out, {row})}, {}, KernelArg{Symbol("log_of_sum")});
}

// Draws actions; most of what it draws can be done.
class Drawer {
 public:
  Drawer(Random& random, const Node* kernel) : random_(random) {
    for (const auto& [name, range] : loops_of_kernel(kernel))
      loops_.push_back({name, range->src(0)->lo(), name[0] == 'k'});
    for (const auto& [name, load] : reads_of_kernel(kernel)) reads_.push_back(name);
    fills_ = std::ranges::any_of(loops_, [](const Loop& loop) { return loop.name[0] == 's'; });
    for (const Node* node : toposort(kernel))
      if (node->op() == Op::Reduce && node->arg<ReduceArg>().op == Op::Max)
        of_maximum(node->src(1), kernel);
  }

  Schedule schedule() {
    if (loops_.empty()) return {};
    for (const Loop& loop : loops_)
      if (loop.is_reduce && random_.chance(0.2))
        schedule_.push_back({.type = Action::Stage, .name = loop.name});
    if (!fills_ && tops_.empty() && random_.chance(0.2)) merge();
    if (random_.chance(0.2)) pad();
    if (fills_ && random_.chance(0.6)) batch();
    if (!tops_.empty() && random_.chance(0.3)) online();
    for (std::int64_t tiles = random_.in(0, 4); tiles > 0; --tiles) tile();
    if (random_.chance(0.5)) share();
    if (has_groups_ || random_.chance(0.1)) group();
    if (!reads_.empty() && random_.chance(0.2))
      schedule_.push_back({.type = Action::Prefetch,
                           .name = random_.any_of(reads_),
                           .at = random_.any_of(loops_).name});
    if (has_groups_ || random_.chance(0.7)) order();
    for (const std::string& read : reads_)
      if (random_.chance(has_groups_ ? 0.6 : 0.3)) stage(read);
    if (random_.chance(0.1)) deal();
    kinds();
    return schedule_;
  }

  // Trips that go block by block, in the order in which they are.
  Schedule blocks() {
    if (tops_.empty()) return {};
    if (fills_ && random_.chance(0.6)) batch();
    online();
    for (std::int64_t tiles = random_.in(0, 3); tiles > 0; --tiles) tile();
    if (random_.chance(0.7)) kinds();
    return schedule_;
  }

  // Lanes and copies, of outputs and of sums.
  Schedule lanes() {
    for (std::int64_t tiles = random_.in(1, 4); tiles > 0; --tiles) tile();
    order();
    kinds();
    return schedule_;
  }

  // Reads that a loop hands on, from trip to trip: where outputs stand around sums, they can be.
  Schedule handing() {
    if (loops_.empty() || reads_.empty()) return {};
    for (std::int64_t tiles = random_.in(0, 2); tiles > 0; --tiles) tile();
    if (random_.chance(0.4)) share();
    order(true);
    std::vector<std::string> loops, sums;
    for (const Loop& loop : loops_)
      if (!is_parallel(loop.kind)) (loop.is_reduce ? sums : loops).push_back(loop.name);
    const bool slides = random_.chance(0.5);
    const std::vector<std::string>& around = slides || random_.chance(0.3) ? loops : sums;
    if (around.empty()) return schedule_;
    const std::string read = random_.any_of(reads_);
    schedule_.push_back({.type = Action::Stage,
                         .name = read,
                         .at = random_.any_of(around),
                         .by_region = slides || random_.chance(0.3),
                         .slides = slides,
                         .space = space()});
    if (!slides)
      schedule_.push_back({.type = Action::Pipeline, .name = read, .count = random_.in(2, 4)});
    if (random_.chance(0.3)) kinds();
    return schedule_;
  }

  bool has_groups() const { return has_groups_; }

 private:
  struct Loop {
    std::string name;
    std::int64_t size;
    bool is_reduce;
    LoopKind kind = LoopKind::Loop;
  };

  void tile() {
    const auto at = static_cast<std::size_t>(random_.in(0, std::ssize(loops_) - 1));
    const Loop loop = loops_[at];
    if (loop.size < 2) return;
    const std::int64_t count =
        random_.any_of<std::int64_t>({2, 3, 4, 4, 5, 8, 8, 16, random_.in(1, loop.size)});
    if (count > loop.size) return;
    const bool is_even = loop.size % count == 0;
    const Tail tail = is_even ? Tail::None : static_cast<Tail>(random_.in(1, 3));
    schedule_.push_back({.type = Action::Tile, .name = loop.name, .count = count, .tail = tail});
    cut(at, count);
  }

  void batch() {
    Loop& loop = loops_[static_cast<std::size_t>(random_.in(0, 1))];
    const std::int64_t count = random_.in(1, loop.size);
    const Tail tail = loop.size % count == 0 ? Tail::None : static_cast<Tail>(random_.in(1, 3));
    schedule_.push_back({.type = Action::Batch, .name = loop.name, .count = count, .tail = tail});
    loop.size = (loop.size + count - 1) / count;
    loops_.push_back({"b0", count, false});
  }

  void of_maximum(const Node* range, const Node* kernel) {
    for (const NamedLoop& loop : loops_of_kernel(kernel))
      if (loop.range == range) tops_.push_back(loop.name);
  }

  // As far as it can be done, every loop over the trips has fewer of them.
  void online() {
    const auto top = std::ranges::find(loops_, random_.any_of(tops_), &Loop::name);
    const std::int64_t trips = top->size,
                       count = random_.in(1, std::max<std::int64_t>(1, trips - 1));
    schedule_.push_back({.type = Action::Online, .name = top->name, .count = count});
    for (Loop& loop : loops_)
      if (loop.size == trips && loop.name[0] != 'r' && loop.name[0] != 'b') loop.size = count;
  }

  // Refused where they are not of one nest.
  void merge() {
    const auto outer = static_cast<std::size_t>(random_.in(0, std::ssize(loops_) - 1));
    const auto inner = static_cast<std::size_t>(random_.in(0, std::ssize(loops_) - 1));
    if (outer == inner || loops_[outer].name[0] != loops_[inner].name[0]) return;
    schedule_.push_back(
        {.type = Action::Merge, .name = {}, .loops = {loops_[outer].name, loops_[inner].name}});
    loops_[outer].size *= loops_[inner].size;
    loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(inner));
  }

  void pad() {
    Loop& loop = loops_[static_cast<std::size_t>(random_.in(0, std::ssize(loops_) - 1))];
    const std::int64_t count = random_.any_of<std::int64_t>({2, 3, 4, 8, 16});
    schedule_.push_back(
        {.type = Action::Pad, .name = loop.name, .count = count, .tail = Tail::Mask});
    loop.size = (loop.size + count - 1) / count * count;
  }

  // Nothing else is done with its parts.
  void deal() {
    const auto loop = std::ranges::find_if(loops_, [](const Loop& each) {
      return each.name[0] == 'r' && each.kind == LoopKind::Loop;
    });
    if (loop == loops_.end()) return;
    schedule_.push_back(
        {.type = Action::Deal, .name = loop->name, .count = random_.in(1, loop->size)});
    loops_.erase(loop);
  }

  Loop& cut(std::size_t at, std::int64_t count) {
    const Loop loop = loops_[at];
    const std::string family = loop.name.substr(0, loop.name.find('.'));
    loops_[at].size = (loop.size + count - 1) / count;
    loops_.push_back({family + "." + std::to_string(++cuts_[family]), count, loop.is_reduce});
    return loops_.back();
  }

  // Some loops of the output are those of work-groups, some those of their items.
  void share() {
    for (Loop& loop : loops_)
      if (loop.name[0] == 'r' && random_.chance(0.6)) {
        loop.kind = loop.size <= 16 && random_.chance(0.6) ? LoopKind::Local : LoopKind::Global;
        has_groups_ = true;
        add(loop, loop.kind);
      }
  }

  // As many items for all reductions; a tile with a kind, or both at once.
  void group() {
    const std::int64_t count = random_.in(2, 8);
    for (std::size_t i = loops_.size(); i-- > 0;) {
      const Loop loop = loops_[i];
      if (!loop.is_reduce || loop.size < count || !random_.chance(0.3)) continue;
      const Tail tail = loop.size % count == 0 ? Tail::None : static_cast<Tail>(random_.in(1, 2));
      const bool is_one = random_.chance(0.5);
      schedule_.push_back({.type = is_one ? Action::Group : Action::Tile,
                           .name = loop.name,
                           .count = count,
                           .tail = tail});
      Loop& inner = cut(i, count);
      inner.kind = LoopKind::Local;
      if (!is_one) add(inner, LoopKind::Local);
      has_groups_ = true;
    }
  }

  void stage(const std::string& read) {
    Action action{.type = Action::Stage, .name = read};
    if (!random_.chance(0.2)) action.at = random_.any_of(loops_).name;
    action.by_region = random_.chance(0.4);
    action.slides = action.by_region && random_.chance(0.3);
    action.space = space();
    schedule_.push_back(action);
    if (!action.slides && random_.chance(0.15))
      schedule_.push_back({.type = Action::Pipeline, .name = read, .count = random_.in(2, 4)});
  }

  Space space() {
    if (has_groups_ && random_.chance(0.7)) return Space::Shared;
    return random_.chance(0.2) ? Space::Register : Space::Scratch;
  }

  // Any, but that workers share what stands outermost.
  void order(bool sums_last = false) {
    random_.shuffle(loops_);
    std::ranges::sort(loops_, {}, [&](const Loop& loop) {
      if (is_parallel(loop.kind)) return loop.kind == LoopKind::Global ? 0 : 1;
      return sums_last && loop.is_reduce ? 3 : 2;
    });
    std::vector<std::string> names;
    for (const Loop& loop : loops_) names.push_back(loop.name);
    schedule_.push_back({.type = Action::Order, .name = {}, .loops = names});
    if (!has_groups_ && random_.chance(0.3))
      schedule_.push_back({.type = Action::Swap,
                           .name = {},
                           .loops = {random_.any_of(names), random_.any_of(names)}});
  }

  void kinds() {
    bool has_vector = false;
    for (const Loop& loop : loops_) {
      if (is_parallel(loop.kind)) continue;
      const bool fits = loop.size == 2 || loop.size == 4 || loop.size == 8 || loop.size == 16;
      if (fits && !has_vector && random_.chance(0.5)) {
        has_vector = true;
        add(loop, LoopKind::Vector);
      } else if ((loop.size <= 5 || loop.size == 8 || loop.size == 16) && random_.chance(0.4)) {
        add(loop, random_.chance(0.7) ? LoopKind::Upcast : LoopKind::Unroll);
      } else if (!loop.is_reduce && !has_groups_ && !has_threads_ && random_.chance(0.1)) {
        has_threads_ = true;
        add(loop, LoopKind::Thread);
      }
    }
  }
  void add(const Loop& loop, LoopKind kind) {
    schedule_.push_back({.type = Action::Kind, .name = loop.name, .kind = kind});
  }

  Random& random_;
  std::vector<Loop> loops_;
  std::vector<std::string> reads_, tops_;
  std::map<std::string, int> cuts_;
  bool has_threads_ = false, has_groups_ = false, fills_ = false;
  Schedule schedule_;
};

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
  const Tried tried = check_all({matmul, window, rows, columns, elements, convolution, shares,
                                 column_shares, turned, turned_matmul, weighted},
                                &Drawer::schedule);
  if (tried.accepted + tried.refused < 2) return;
  EXPECT_GT(3 * tried.accepted, tried.refused) << "many schedules should be possible";
  EXPECT_GT(20 * tried.shared, tried.accepted) << "in some, items wait for one another";
}

TEST(ScheduleProperty, TripsFillMemoryTogether) {
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
      check_all({matmul, convolution, convolution, turned_matmul}, &Drawer::handing);
  if (tried.accepted + tried.refused < 2) return;
  EXPECT_GT(50 * tried.slides, tried.accepted) << "some slide";
  EXPECT_GT(8 * tried.ahead, tried.accepted) << "some are ahead";
  EXPECT_GT(20 * tried.shared, tried.accepted);
}

// A sum that would be cut into blocks, of which some trips are left over.
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
  target.machine.workers = 4;
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
