// Random integer expressions with the shapes of index arithmetic: sums of products, quotients and
// remainders by constants, flattened and unflattened loops, bounds and conditions of them. Rarely
// also what no index contains: divisors of 0, negative shifts, values at the ends of the dtype.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

class RandomExpression {
 public:
  // Leaves and integers are of `dtype`. Everything lands in Interner::current().
  explicit RandomExpression(std::uint64_t seed, DType dtype = dtypes::index)
      : random_(seed), dtype_(dtype) {
    is_extreme_ = one_in(8);
    const auto count = static_cast<int>(between(1, 4));
    for (int i = 0; i < count; ++i) leaves_.push_back(new_leaf(i));
    integers_ = leaves_;
  }

  UOp integer(int depth = 4) {
    UOp made = one_in(8) && depth < 4 ? pick(integers_) : new_integer(depth);
    integers_.push_back(made);
    return made;
  }

  UOp condition(int depth = 4) {
    UOp made = one_in(8) && !conditions_.empty() ? pick(conditions_) : new_condition(depth);
    conditions_.push_back(made);
    return made;
  }

  // A float that comes from the leaves by way of zeros of both signs, infinities and NaN.
  UOp real(DType dtype, int depth = 3) {
    const auto sub = [&] { return real(dtype, depth - 1); };
    const auto number = [&] { return const_float(pick(reals), dtype); };
    const auto either = [&] { return one_in(3) ? number() : sub(); };
    const auto of = [&](Op op) {
      return one_in(2) ? make(op, {sub(), either()}) : make(op, {either(), sub()});
    };
    if (depth <= 0)
      return one_in(4) ? cast(pick(leaves_), dtype)
                       : make(Op::Where, {bound(1), number(), number()});
    return choose({
        {4, [&] { return of(Op::Add); }},
        {4, [&] { return of(Op::Sub); }},
        {5, [&] { return of(Op::Mul); }},
        {3, [&] { return of(Op::Div); }},
        {3, [&] { return of(Op::Max); }},
        {1, [&] { return of(Op::Mod); }},
        {3, [&] { return -sub(); }},
        {2, [&] { return make(one_in(2) ? Op::Trunc : Op::Sqrt, {sub()}); }},
        {3,
         [&] {
           return make(Op::Where, {make(pick(comparisons), {sub(), either()}), sub(), either()});
         }},
        {2, [&] { return make(Op::Where, {condition(1), sub(), either()}); }},
        {2,
         [&] {
           return cast(real(dtype == dtypes::f16 ? dtypes::f32 : dtypes::f16, depth - 1), dtype);
         }},
        {1, [&] { return cast(cast(sub(), dtypes::i32), dtype); }},
    });
  }

  // INDEX(buffer, condition, integers): the condition bounds what the indices are made of.
  UOp gated_index() {
    const UOp buffer = make(Op::Param, {const_int(1 << 20)}, dtypes::f32, ParamArg{});
    const UOp position = sum(2);
    const std::int64_t step = pick(factors);
    const auto clause = [&] {
      return one_in(4) ? condition(2) : one_in(2) ? bound(2) : inside(position, step);
    };
    UOp valid = clause();
    for (int i = between(0, 3); i > 0; --i) valid = valid & clause();
    std::vector<UOp> src{buffer, valid};
    for (int i = between(1, 2); i > 0; --i)
      src.push_back(one_in(2) ? integer(3) : part(position + between(-step, step), step));
    return make(Op::Index, src);
  }

 private:
  using Choice = std::pair<int, std::function<UOp()>>;  // its weight, and how it is made

  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }
  template <class List>
  std::decay_t<decltype(*std::begin(std::declval<const List&>()))> pick(const List& list) {
    return list[static_cast<std::size_t>(random_() % std::size(list))];
  }
  UOp choose(const std::vector<Choice>& choices) {
    std::int64_t total = 0;
    for (const auto& [weight, make] : choices) total += weight;
    std::int64_t at = between(1, total);
    for (const auto& [weight, make] : choices)
      if ((at -= weight) <= 0) return make();
    return choices.back().second();
  }

  bool is_index() const { return dtype_.is_index(); }
  UOp literal(std::int64_t value) const { return const_int(value, dtype_); }

  UOp new_leaf(int i) {
    static constexpr std::int64_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,
                                               10, 12, 14, 16, 28, 32, 64, 100};
    const auto id = static_cast<std::uint64_t>(i);
    const auto variable = [&](std::int64_t lo, std::int64_t hi) {
      return make(Op::Variable, {}, dtype_,
                  VariableArg{Symbol(std::string(1, static_cast<char>('a' + i))), {id}, lo, hi});
    };
    const std::int64_t least = lowest(), most = highest();
    const auto bounded = [&] {
      const std::int64_t lo = dtype_.is_unsigned() ? between(0, 20) : between(-12, 8);
      return variable(lo, lo + between(0, 20));
    };
    std::vector<Choice> choices{
        {is_index() ? 10 : 3, [&] { return range(literal(pick(lengths)), id); }},
        {3, bounded},
        {is_index() ? 1 : 4, [&] { return variable(least, most); }},
        {1,
         [&] {
           return make(Op::Special, {literal(pick(lengths))}, dtype_,
                       SpecialArg{LoopKind::Global, i});
         }},
    };
    // A loop over a symbolic size, or a part of one.
    if (is_index())
      choices.push_back(
          {3, [&] {
             const UOp size =
                 make(Op::Variable, {}, dtype_,
                      VariableArg{Symbol("n"), {id + 10}, between(0, 1), between(1, 12)});
             const UOp whole = one_in(2) ? size : one_in(2) ? size * pick(factors) : size * 4 / 2;
             sizes_.push_back(size);
             sizes_.push_back(whole);
             return range(whole, id);
           }});
    return choose(choices);
  }

  std::int64_t lowest() const { return static_cast<std::int64_t>(lowest_bits(dtype_)); }
  std::int64_t highest() const {
    return dtype_.kind() == Kind::U64 ? std::int64_t{1} << 62
                                      : static_cast<std::int64_t>(highest_bits(dtype_));
  }

  static constexpr std::int64_t factors[] = {2, 2,  3,  4,  4,  5,  6,  7,  8,  8,
                                             9, 10, 12, 14, 16, 28, 32, 64, 100};

  std::int64_t number() {
    if (one_in(3)) return between(-4, 8);
    const int rare = is_extreme_ ? 4 : 24;
    if (one_in(rare)) return one_in(2) ? lowest() + between(0, 2) : highest() - between(0, 2);
    if (one_in(rare)) return std::int64_t{1} << between(0, dtype_.bits() - 2);
    const std::int64_t value = pick(factors);
    return one_in(5) ? -value : value;
  }
  std::int64_t divisor() {
    return one_in(20) ? number() : one_in(20) ? -pick(factors) : pick(factors);
  }

  UOp constant() { return literal(number()); }
  UOp term(int depth) { return depth <= 1 || one_in(2) ? pick(leaves_) : integer(depth - 2); }

  UOp sum(int depth) {
    const auto product = [&] {
      const UOp value = term(depth);
      return one_in(3) ? value : value * number();
    };
    UOp total = product();
    for (int i = between(0, 3); i > 0; --i) {
      const UOp next = product();
      total = one_in(8) ? next - total : one_in(3) ? next + total : total + next;
    }
    return one_in(2) ? total : total + number();
  }

  // Loops merged into one index, and that index cut into others.
  UOp reshaped(int depth) {
    UOp flat = term(depth);
    for (int i = between(1, 3); i > 0; --i) {
      flat = flat * pick(factors);
      flat = flat + term(depth);
    }
    UOp outer = flat / pick(factors);
    if (one_in(3)) outer = outer / pick(factors);
    return one_in(2) ? outer : outer % pick(factors);
  }

  static std::int64_t times(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }

  // A quotient beside its remainder, as undoing a split leaves them.
  UOp rejoined(int depth) {
    const std::int64_t c = divisor(), scale = one_in(2) ? 1 : pick(factors);
    const UOp x = one_in(2) ? sum(depth) : integer(depth - 1);
    const UOp y = one_in(4) ? x + times(c, between(-1, 2)) : x;
    const UOp quotient = one_in(3) ? y / c % pick(factors) : y / c;
    const UOp high = quotient * (one_in(6) ? number() : times(c, scale)), low = x % c * scale;
    if (one_in(3)) {
      const UOp other = term(depth);
      return high + other * pick(factors) + low;
    }
    return one_in(2) ? high + low : low + high;
  }

  // A symbolic size in a product, and that product divided by it.
  UOp by_size(int depth) {
    const UOp n = sizes_.empty() ? pick(leaves_) : pick(sizes_);
    UOp x = term(depth) * n;
    x = x + term(depth);
    if (one_in(3)) {
      x = x * pick(factors);
      x = x + term(depth);
    }
    const UOp by = one_in(2) ? n : n * pick(factors);
    return one_in(2) ? x / by : x % by;
  }

  UOp roundtrip(int depth) {
    static constexpr DType others[] = {dtypes::i8,  dtypes::u8,  dtypes::i16,
                                       dtypes::i32, dtypes::u32, dtypes::i64};
    if (one_in(3)) return cast(condition(depth - 1), dtype_);
    const UOp value = integer(depth - 1);
    return cast(cast(value, pick(others)), dtype_);
  }

  // The nearest of what lies between two bounds, written with MAX and WHERE.
  UOp limited(int depth) {
    const UOp x = integer(depth - 1), most = one_in(2) ? constant() : integer(depth - 1);
    const UOp low = min(x, most);
    return one_in(2) ? low : max(low, constant());
  }

  UOp new_integer(int depth) {
    if (depth <= 0) return one_in(5) ? constant() : pick(leaves_);
    // Within braces, unlike in an argument list, the order of evaluation is defined.
    const auto sub = [this, depth] { return integer(depth - 1); };
    const auto both = [sub](Op op) { return make(op, {sub(), sub()}); };
    const auto half = [this, sub](Op op) {
      return make(op, {sub(), one_in(2) ? constant() : sub()});
    };
    return choose({
        {24, [&] { return sum(depth); }},
        {12, [&] { return make(Op::FloorDiv, {sum(depth), literal(divisor())}); }},
        {12, [&] { return make(Op::FloorMod, {sum(depth), literal(divisor())}); }},
        {8, [&] { return make(Op::FloorDiv, {sub(), literal(divisor())}); }},
        {8, [&] { return make(Op::FloorMod, {sub(), literal(divisor())}); }},
        {8, [&] { return reshaped(depth); }},
        {8, [&] { return rejoined(depth); }},
        {sizes_.empty() ? 1 : 8, [&] { return by_size(depth); }},
        {4, [&] { return both(Op::Add); }},
        {4, [&] { return both(Op::Sub); }},
        {5, [&] { return both(Op::Mul); }},
        {5,
         [&] {
           return make(Op::Where, {condition(depth - 1), sub(), one_in(3) ? constant() : sub()});
         }},
        {3, [&] { return both(Op::Max); }},
        {2, [&] { return limited(depth); }},
        {2, [&] { return half(Op::Max); }},
        {2, [&] { return half(Op::FloorDiv); }},
        {2, [&] { return half(Op::FloorMod); }},
        {2, [&] { return half(Op::CDiv); }},
        {2, [&] { return half(Op::CMod); }},
        {2, [&] { return half(Op::And); }},
        {2, [&] { return half(Op::Or); }},
        {2, [&] { return half(Op::Xor); }},
        {1,
         [&] { return make(Op::Shl, {sub(), one_in(8) ? constant() : literal(between(0, 4))}); }},
        {1,
         [&] { return make(Op::Shr, {sub(), one_in(8) ? constant() : literal(between(0, 4))}); }},
        {2, [&] { return -sub(); }},
        {1, [&] { return make(Op::Trunc, {sub()}); }},
        {2, [&] { return roundtrip(depth); }},
    });
  }

  UOp part(const UOp& position, std::int64_t step) {
    return one_in(3) ? position : one_in(2) ? position / step : position % step;
  }

  // What holds of a place inside a window, or of one that a stride meets.
  UOp inside(const UOp& position, std::int64_t step) {
    const UOp x = part(position, step), limit = literal(between(-2, step));
    return one_in(4) ? x == limit : one_in(2) ? x < limit : x >= limit;
  }

  // One comparison of a sum with a constant.
  UOp bound(int depth) {
    const UOp x = one_in(2) ? sum(depth) : term(depth);
    const auto wrapped =
        static_cast<std::uint64_t>(number()) + static_cast<std::uint64_t>(number());
    const UOp limit = literal(static_cast<std::int64_t>(wrapped));
    return choose({{3, [&] { return x < limit; }},
                   {2, [&] { return x >= limit; }},
                   {1, [&] { return limit < x; }}});
  }

  UOp new_condition(int depth) {
    if (depth <= 0) return one_in(8) ? const_bool(one_in(2)) : bound(1);
    const auto sub = [this, depth] { return condition(depth - 1); };
    const auto constant_bool = [this] { return const_bool(one_in(2)); };
    const auto both = [sub](Op op) { return make(op, {sub(), sub()}); };
    const auto sides = [this, depth](Op op) {
      const UOp a = integer(depth - 1), b = one_in(3) ? constant() : integer(depth - 1);
      return one_in(4) ? make(op, {b, a}) : make(op, {a, b});
    };
    return choose({
        {12, [&] { return bound(depth); }},
        {8, [&] { return sides(Op::CmpLt); }},
        {3, [&] { return sides(Op::CmpEq); }},
        {3, [&] { return sides(Op::CmpNe); }},
        {4, [&] { return !sub(); }},
        {5, [&] { return both(Op::And); }},
        {5, [&] { return both(Op::Or); }},
        {1, [&] { return both(Op::Xor); }},
        {1, [&] { return make(Op::Where, {sub(), sub(), sub()}); }},
        {1, [&] { return make(Op::Where, {sub(), constant_bool(), constant_bool()}); }},
        {1, [&] { return make(pick(logic), {sub(), one_in(2) ? constant_bool() : sub()}); }},
        {1, [&] { return make(pick(logic), {constant_bool(), sub()}); }},
        {1, [&] { return cast(integer(depth - 1), dtypes::bool_); }},
    });
  }

  static constexpr double reals[] = {0.0,
                                     -0.0,
                                     1,
                                     -1,
                                     2,
                                     0.5,
                                     -3.25,
                                     65504,
                                     1e-7,
                                     std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::quiet_NaN()};
  static constexpr Op comparisons[] = {Op::CmpLt, Op::CmpEq, Op::CmpNe};
  static constexpr Op logic[] = {Op::Add,   Op::Mul,   Op::Max,  Op::Sub,
                                 Op::CmpLt, Op::CmpEq, Op::CmpNe};

  std::mt19937_64 random_;
  DType dtype_;
  bool is_extreme_ = false;  // numbers at the ends of the dtype are no rarity
  std::vector<UOp> leaves_, sizes_, integers_, conditions_;
};

}  // namespace weft
