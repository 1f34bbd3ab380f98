// Kernels of random sizes, of each form that schedules are drawn for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <weft/dev/ir/movement.h>

#include "../support/kernels.h"

namespace weft::drawn {

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

inline UOp input(int slot, const Sizes& sizes) {
  std::vector<UOp> dims;
  for (std::int64_t size : sizes) dims.push_back(const_int(size));
  return param(slot, Access::Read, dims);
}

inline UOp output(const Sizes& sizes) {
  std::vector<UOp> dims;
  for (std::int64_t size : sizes) dims.push_back(const_int(size));
  return param(0, Access::Write, dims);
}

inline UOp spread(const UOp& x, const Sizes& shape, const Sizes& sizes) {
  return expand(reshape(x, constant_sizes(shape)), constant_sizes(sizes));
}

inline UOp matmul(Random& random) {
  const std::int64_t m = random.in(1, 30), n = random.in(1, 40), k = random.in(1, 30);
  const UOp a = input(1, {m, k}), b = input(2, {k, n});
  const UOp product =
      spread(a, {m, 1, k}, {m, n, k}) * spread(permute(b, {1, 0}), {1, n, k}, {m, n, k});
  UOp sum = reduce(Op::Add, product, {2});
  if (random.chance(0.5)) sum = sum + spread(input(3, {n}), {1, n, 1}, {m, n, 1});
  return make_kernel("matmul", {{output({m, n, 1}), sum}});
}

inline UOp window(Random& random) {
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

inline UOp rows(Random& random) {
  const std::int64_t m = random.in(1, 20), n = random.in(1, 70);
  const UOp x = input(1, {m, n});
  const UOp centred = reduce(random.chance(0.5) ? Op::Add : Op::Max, x, {1});
  return make_kernel("rows", {{output({m, 1}), centred * 0.5 + reduce(Op::Max, x * x, {1})}});
}

inline UOp columns(Random& random) {
  const std::int64_t m = random.in(1, 40), n = random.in(1, 40);
  return make_kernel("columns", {{output({1, n}), reduce(Op::Add, input(1, {m, n}), {0})}});
}

inline UOp elements(Random& random) {
  const std::int64_t m = random.in(1, 20), n = random.in(1, 40);
  const UOp x = input(1, {m, n}), y = permute(input(2, {n, m}), {1, 0});
  return make_kernel("elements", {{output({m, n}), x * 2.0 + y}});
}

// Read along one loop, written along the other; sizes that tiles of registers fill.
inline UOp turned(Random& random) {
  const std::int64_t m = 4 * random.in(1, 9), n = 4 * random.in(1, 9), b = random.in(1, 3);
  const UOp x = permute(input(1, {b, n, m}), {0, 2, 1});
  return make_kernel("turned", {{output({b, m, n}), random.chance(0.5) ? x : x + x * x}});
}

// A transposed operand on either side.
inline UOp turned_matmul(Random& random) {
  const std::int64_t m = 4 * random.in(1, 6), n = 4 * random.in(1, 9), k = 4 * random.in(1, 6);
  const bool is_left = random.chance(0.5);
  const UOp a = is_left ? permute(input(1, {k, m}), {1, 0}) : input(1, {m, k});
  const UOp b = is_left ? permute(input(2, {k, n}), {1, 0}) : input(2, {n, k});
  const UOp product = spread(a, {m, 1, k}, {m, n, k}) * spread(b, {1, n, k}, {m, n, k});
  return make_kernel("turned_matmul", {{output({m, n, 1}), reduce(Op::Add, product, {2})}});
}

// Sums over 3 x 3 windows at a distance, whose reads of the image may be invalid.
template <class Value>
UOp over_windows(Random& random, const char* name, Op op, Value value) {
  const std::int64_t y = random.in(1, 9), x = random.in(1, 20), step = random.in(1, 4);
  const UOp image = input(1, {y * step + 1, x * step + 1});
  const UOp oy = range(y, fresh_id().value), ox = range(x, fresh_id().value);
  const UOp ky = range(3, fresh_id().value, LoopKind::Reduce);
  const UOp kx = range(3, fresh_id().value, LoopKind::Reduce);
  const UOp iy = oy * step + ky - 1, ix = ox * step + (2 - kx) - 1;
  const UOp inside = (iy >= 0) & (iy < y * step + 1) & (ix >= 0) & (ix < x * step + 1);
  const UOp sum =
      reduce(op, std::vector<UOp>{value(place(image, {iy, ix}, inside), ky, kx), ky, kx});
  return make(Op::Sink, {over(put(place(output({y, x}), {oy, ox}), sum), {oy, ox})}, {},
              KernelArg{Symbol(name)});
}

// Windows that reach beyond the image.
inline UOp convolution(Random& random) {
  const UOp weights = input(2, {3, 3});
  return over_windows(random, "convolution", Op::Add,
                      [&](const UOp& pixel, const UOp& ky, const UOp& kx) {
                        return load(pixel) * load(place(weights, {ky, kx}));
                      });
}

// The same with a value beyond the image.
inline UOp pool(Random& random) {
  const UOp beyond = const_float(random.any_of(std::vector{-HUGE_VAL, 3.0}), dtypes::f32);
  return over_windows(random, "pool", Op::Max, [&](const UOp& pixel, const UOp&, const UOp&) {
    return make(Op::Load, {pixel, beyond});
  });
}

// Memory that is written where it is read: nothing may be computed twice.
inline UOp in_place(Random& random) {
  const std::int64_t m = random.in(1, 9), n = random.in(1, 70);
  const UOp x = param(0, Access::ReadWrite, {const_int(m), const_int(n)});
  const UOp y = spread(input(1, {n}), {1, n}, {m, n});
  return make_kernel("in_place", {{x, x * 2.0 + y}});
}

inline UOp looped(std::int64_t size, LoopKind kind = LoopKind::Loop) {
  return range(size, fresh_id().value, kind);
}

// A softmax without its exponentials: sums of what the output needs again.
inline UOp shares(Random& random) {
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
inline UOp column_shares(Random& random) {
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
inline UOp weighted(Random& random) {
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
inline UOp decoded(Random& random) {
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
inline UOp attention(Random& random) {
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
inline UOp log_of_sum(Random& random) {
  const std::int64_t m = random.in(1, 12), n = random.in(2, 70);
  const UOp x = input(1, {m, n}), row = looped(m);
  const UOp k = looped(n, LoopKind::Reduce), j = looped(n, LoopKind::Reduce);
  const UOp top = reduce(Op::Max, std::vector<UOp>{load(place(x, {row, j})), j});
  const UOp power = make(Op::Exp2, {load(place(x, {row, k})) - top});
  const UOp sum = reduce(Op::Add, std::vector<UOp>{power, k});
  const UOp out = put(place(output({m}), {row}), top + make(Op::Log2, {sum}));
  return make(Op::Sink, {over(out, {row})}, {}, KernelArg{Symbol("log_of_sum")});
}

}  // namespace weft::drawn
