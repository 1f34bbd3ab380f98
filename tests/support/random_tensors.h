// Random programs on tensors: elementwise ops, movement, reductions and gathers over small shapes,
// sizes 0 and 1 among them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

class RandomTensors {
 public:
  // A program follows from its seed and the compiler. Everything lands in Interner::current().
  explicit RandomTensors(std::uint64_t seed, std::int64_t largest = 5)
      : random_(seed), largest_(largest) {}
  virtual ~RandomTensors() = default;

  UOp program(int ops) {
    for (int i = 0; i < 2; ++i) pool_.push_back(input(shape()));
    for (int i = 0; i < ops; ++i) pool_.push_back(next());
    return pool_.back();
  }
  const std::vector<UOp>& inputs() const { return inputs_; }
  const std::vector<UOp>& values() const { return pool_; }  // everything computed on the way

 protected:
  using Sizes = std::vector<std::int64_t>;

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  bool one_in(int n) { return below(n) == 0; }
  // Mostly of the latest, so that programs are deep.
  const UOp& pick() {
    const auto size = std::ssize(pool_);
    const auto window = one_in(3) ? size : std::min<std::ptrdiff_t>(size, 3);
    return pool_[static_cast<std::size_t>(size - 1 - below(window))];
  }

  static Sizes sizes_of(const UOp& tensor) {
    Sizes sizes;
    for (const Node* size : tensor->dims()) sizes.push_back(size->lo());
    return sizes;
  }
  static UOp tuple_of(const Sizes& sizes) {
    std::vector<UOp> members;
    for (std::int64_t size : sizes) members.push_back(const_int(size));
    return tuple(members);
  }
  static std::int64_t count(const Sizes& sizes) {
    std::int64_t n = 1;
    for (std::int64_t size : sizes) n *= size;
    return n;
  }

  Sizes shape() {
    Sizes sizes(static_cast<std::size_t>(below(4)));
    for (std::int64_t& size : sizes) size = one_in(40) ? 0 : 1 + below(largest_);
    return sizes;
  }
  virtual DType input_dtype() { return one_in(2) ? dtypes::f32 : dtypes::i32; }
  UOp input(const Sizes& sizes) {
    const DType dtype = input_dtype();
    std::vector<UOp> dims;
    for (std::int64_t size : sizes) dims.push_back(const_int(size));
    const auto slot = static_cast<std::int32_t>(inputs_.size()) + 1;  // 0 is the result's
    inputs_.push_back(make(Op::Param, dims, dtype, ParamArg{slot, Access::Read, 0}));
    return inputs_.back();
  }

  virtual UOp next() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2: return binary();
      case 3: return reshaped(pick());
      case 4: return permuted(pick());
      case 5: return expanded(pick());
      case 6: return padded(pick());
      case 7: return shrunk(pick());
      case 8: return flipped(pick());
      case 9: return reduced(pick());
      case 10: return gathered();
      default: return unary();
    }
  }

  virtual UOp unary() {
    const UOp x = pick();
    if (one_in(3)) return cast(x, x->dtype().is_float() ? dtypes::i32 : dtypes::f32);
    return one_in(2) ? -x : make(Op::Trunc, {x});
  }
  virtual UOp binary() {
    const UOp x = pick();
    UOp y = literal_like(below(7) - 3, x);
    if (!one_in(4)) y = fitted(x);
    switch (below(6)) {
      case 0: return x + y;
      case 1: return x * y;
      case 2: return max(x, y);
      case 3: return x - y;
      case 4: return where(x < y, y, x);
      default: return where(x != y, x, literal_like(below(3), x));
    }
  }
  // Something of x's shape and dtype: another tensor where one fits.
  UOp fitted(const UOp& x) {
    for (int tries = 0; tries < 6; ++tries)
      if (const UOp& y = pick(); sizes_of(y) == sizes_of(x)) return cast(y, x->dtype());
    return cast(input(sizes_of(x)), x->dtype());
  }

  UOp reshaped(const UOp& x) {
    Sizes to;
    std::int64_t left = count(sizes_of(x));
    if (left == 0) {
      to = sizes_of(x);
      std::shuffle(to.begin(), to.end(), random_);
      return make(Op::Reshape, {x, tuple_of(to)});
    }
    while (left > 1 || one_in(4)) {
      std::int64_t part = 1 + below(left);
      while (left % part != 0) --part;
      to.push_back(part);
      left /= part;
      if (to.size() == 4) break;
    }
    if (left > 1) to.push_back(left);
    return make(Op::Reshape, {x, tuple_of(to)});
  }
  UOp permuted(const UOp& x) {
    std::vector<std::int64_t> axes(x->dims().size());
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    return make(Op::Permute, {x}, {}, AxesArg{IntList(axes)});
  }
  UOp expanded(const UOp& x) {
    Sizes sizes = sizes_of(x), with_one = sizes;
    const auto at = below(std::ssize(sizes) + 1);
    with_one.insert(with_one.begin() + at, 1);
    sizes.insert(sizes.begin() + at, one_in(40) ? 0 : 1 + below(4));
    return make(Op::Expand, {make(Op::Reshape, {x, tuple_of(with_one)}), tuple_of(sizes)});
  }
  UOp padded(const UOp& x) {
    Sizes before = sizes_of(x), after = before;
    for (std::int64_t& n : before) n = below(3);
    for (std::int64_t& n : after) n = below(3);
    return make(Op::Pad, {x, tuple_of(before), tuple_of(after)});
  }
  UOp shrunk(const UOp& x) {
    Sizes start = sizes_of(x), sizes = start;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      start[i] = below(sizes[i] + 1);
      sizes[i] = below(sizes[i] - start[i] + 1);
      if (sizes[i] == 0 && !one_in(20)) start[i] = 0, sizes[i] = x->dims()[i]->lo();
    }
    return make(Op::Shrink, {x, tuple_of(start), tuple_of(sizes)});
  }
  UOp flipped(const UOp& x) { return make(Op::Flip, {x}, {}, AxesArg{some_axes(x)}); }
  UOp reduced(const UOp& x) {
    const IntList axes = some_axes(x);
    if (axes.get().empty()) return -x;
    constexpr Op ops[] = {Op::Add, Op::Max, Op::Mul};
    return make(Op::Reduce, {x}, {}, ReduceArg{ops[below(3)], axes});
  }
  // Rows of an input, wherever the index is inside.
  UOp gathered() {
    const UOp& table = inputs_[static_cast<std::size_t>(below(std::ssize(inputs_)))];
    const UOp at = cast(pick(), dtypes::i32);
    std::vector<UOp> src{table, const_bool(true)};
    for (const Node* size : table->dims()) {
      const UOp limit = const_int(size->lo(), dtypes::i32);
      src[1] = src[1] & (at >= 0) & (at < limit);
      src.push_back(at);
    }
    const UOp place = make(Op::Index, src);
    if (one_in(2)) return make(Op::Load, {place});
    return make(Op::Load, {place, literal_like(below(5), place)});
  }

  IntList some_axes(const UOp& x) {
    std::vector<std::int64_t> axes;
    for (std::int64_t axis = 0; axis < std::ssize(x->dims()); ++axis)
      if (one_in(2)) axes.push_back(axis);
    std::shuffle(axes.begin(), axes.end(), random_);
    return IntList(axes);
  }

  std::mt19937_64 random_;
  std::int64_t largest_;
  std::vector<UOp> pool_, inputs_;
};

}  // namespace weft
