// Reading and writing along one axis, by tensors of integers.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "loss.h"
#include "places.h"
#include "within.h"

namespace weft {
namespace {

UOp size_along(const Operand& x, std::int64_t axis) {
  return UOp(x.uop()->dims()[static_cast<std::size_t>(axis)]);
}

bool is_at_most(const Node* size, const Node* other) {
  return size == other || size->bounds().hi <= other->bounds().hi;
}

// The places of gather and scatter: the index's own, and along one axis what it says.
Places elements_along(std::string_view op, const UOp& x, std::int64_t axis, const UOp& index) {
  const NodeList own = x->dims(), sizes = index->dims();
  bool fits = sizes.size() == own.size();
  for (std::size_t k = 0; fits && k < sizes.size(); ++k)
    fits = static_cast<std::int64_t>(k) == axis || is_at_most(sizes[k], own[k]);
  if (!fits)
    user_error(fmt::format("{}: the index of shape {} is larger than {} elsewhere than on axis {}",
                           op, shape_text(index), shape_text(x), axis));
  Places places;
  places.sizes = sizes_of(index);
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (static_cast<std::int64_t>(k) == axis)
      places.add(index, UOp(own[k]));
    else
      places.along.push_back(steps(places.sizes, k, const_int(0)));
  }
  return places;
}

// As much of the source as there are places.
UOp first_part(std::string_view op, const UOp& source, const UOp& index) {
  if (source->dims().empty()) return source;
  const NodeList sizes = index->dims(), own = source->dims();
  bool fits = sizes.size() == own.size();
  for (std::size_t k = 0; fits && k < sizes.size(); ++k) fits = is_at_most(sizes[k], own[k]);
  if (!fits)
    user_error(fmt::format("{}: a source of shape {} is smaller than the index of shape {}", op,
                           shape_text(source), shape_text(index)));
  return shrink(source, Sizes(sizes.size(), const_int(0)), sizes_of(index));
}

Tensor scattered(std::string_view op, const Tensor& tensor, std::int64_t axis, const Tensor& by,
                 const Operand& source, std::optional<Op> combine) {
  axis = axis_of(op, axis, tensor.ndim());
  const Operand x(tensor), index = numbers_for(op, by, size_along(x, axis));
  const Places places = elements_along(op, x.uop(), axis, index.uop());
  return with_written(op, x, places,
                      {first_part(op, source.uop(), index.uop()), source.device, source.tracked},
                      combine, {&index});
}

// Of the factors that are 0, those that share a place with another: how many, and their sum. That is 0, but it changes with
// the only one of them as the product does.
struct Zeros {
  Tensor count, sum;

  Zeros(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& factors) {
    const Tensor is_zero = factors == 0, own_count = is_zero.cast(x.dtype()),
                 own = is_zero.where(factors, 0);
    const auto of_others = [&](const Tensor& each) {
      return scattered("scatter", x.zeros_like(), axis, index, each, Op::Add).gather(axis, index) -
             each;
    };
    count = of_others(own_count);
    sum = of_others(own);
  }
};

// The products of what lies at each place. What others contribute is found by a division, with 1 for what is 0.
Tensor product(const Tensor& tensor, std::int64_t axis, const Tensor& by, const Tensor& source) {
  const auto multiplied = [axis](const Tensor& x, const Tensor& index, const Tensor& factors) {
    return scattered("scatter", x, axis, index, factors, Op::Mul);
  };
  if (!tensor.dtype().is_float()) return multiplied(tensor, by, source);
  return Tensor::custom(
      {tensor, source, by},
      [&](const std::vector<Tensor>& in) { return multiplied(in[0], in[2], in[1]); },
      [axis](const Tensor& g, const std::vector<Tensor>& in, const Tensor&) {
        const Tensor &x = in[0], &factors = in[1], &index = in[2];
        const Tensor others = (factors == 0).where(1, factors);
        const Tensor rest = (g * product(x, axis, index, others)).gather(axis, index) / others;
        const Zeros zeros(x, axis, index, factors);
        const Tensor of_zeros = (zeros.count == 0).where(1, (zeros.count == 1).where(zeros.sum, 0));
        return std::vector<Tensor>{
            g * product(x.ones_like(), axis, index, factors), rest * of_zeros, {}};
      });
}

// The order turned around, exactly.
Tensor turned(const Tensor& tensor) { return tensor.dtype().is_float() ? -tensor : ~tensor; }

// A sum that is computed for each of those who use it may be rounded in several ways; what is in memory is one value. Without
// a gradient nobody compares.
Tensor rounded_once(const Tensor& x) {
  if (!Operand(x).tracked) return x;
  const UOp graph = x.uop();
  const Node* node = graph.node();
  while (info(node->op()).cls == OpClass::Movement ||
         OpSet{Op::Detach, Op::Neg}.contains(node->op()))
    node = node->src(0);
  return OpSet{Op::Buffer, Op::Multi, Op::After}.contains(node->op()) ? x : x.contiguous();
}

Tensor largest(const Tensor& tensor, std::int64_t axis, const Tensor& by, const Tensor& source) {
  const auto forward = [axis](const std::vector<Tensor>& in) {
    return scattered("scatter_reduce", in[0], axis, in[2], in[1], Op::Max);
  };
  if (!tensor.dtype().is_float()) return forward({tensor, source, by});
  // What is compared with the largest is what that was found among.
  return Tensor::custom(
      {rounded_once(tensor), rounded_once(source), by}, forward,
      [axis](const Tensor& g, const std::vector<Tensor>& in, const Tensor& most) {
        const DType wide = promote(g.dtype(), dtypes::f32);  // few bits would stop counting early
        const Tensor own = in[0] == most, others = in[1] == most.gather(axis, in[2]);
        const Tensor equal =
            scattered("scatter_reduce", own.cast(wide), axis, in[2], others.cast(wide), Op::Add);
        const Tensor share = (g.cast(wide) / equal).cast(g.dtype());
        return std::vector<Tensor>{
            own.where(share, 0), others.where(share.gather(axis, in[2]), 0), {}};
      });
}

// Sums and how many are in them lie side by side, so that one write adds to both; few bits hold neither.
Tensor averaged(const Tensor& tensor, std::int64_t axis, const Tensor& by, const Tensor& source,
                bool include_self) {
  const DType own = tensor.dtype(), wide = sum_dtype(own);
  const auto with_count = [&](const Tensor& x) {
    return Tensor::stack(
        {x.cast(wide), Tensor::ones(x.dims(), {.dtype = wide, .device = x.device()})}, -1);
  };
  const Tensor index = Tensor::stack({by, by}, -1);
  Tensor begun = with_count(tensor);
  if (!include_self) begun = begun.scatter(axis, index, 0);
  const Tensor both = begun.scatter_add(axis, index, with_count(source));
  const Tensor total = both.select(-1, 0), count = both.select(-1, 1).maximum(1);
  return (own.is_float() ? total / count : total.floordiv(count)).cast(own);
}

}  // namespace

Tensor gathered(const Tensor& x, std::int64_t axis, const Tensor& index) {
  axis = axis_of("gather", axis, x.ndim());
  const Operand from(x), i(index);
  const Places places = elements_along("gather", from.uop(), axis, i.uop());
  return result("gather", read_at(from.uop(), places), {&from, &i});
}

Tensor Tensor::gather(std::int64_t axis, const Tensor& index) const {
  const Called called;
  axis = axis_of("gather", axis, ndim());
  return gathered(*this, axis, from(numbers_for("gather", index, size_along(*this, axis))));
}

Tensor Tensor::scatter(std::int64_t axis, const Tensor& index, const Operand& source,
                       Scatter how) const {
  const Called called;
  if (how != Scatter::Multiply)
    return scattered("scatter", *this, axis, index, source,
                     how == Scatter::Add ? std::optional(Op::Add) : std::nullopt);
  const UOp factors = first_part("scatter", converted(source.uop(), dtype()), index.uop());
  const Tensor whole =
      result("scatter", fitted("scatter", factors, sizes_of(index.uop())), {&source});
  return product(*this, axis_of("scatter", axis, ndim()), index, whole);
}

// Without what is there itself, the places that are reached begin with what changes nothing.
Tensor Tensor::scatter_reduce(std::int64_t axis, const Tensor& index, const Tensor& source,
                              Reduce how, bool include_self) const {
  const Called called;
  want_integers("scatter_reduce", index);
  axis = axis_of("scatter_reduce", axis, ndim());
  const DType own = dtype();
  const Operand given(source);
  const Tensor part =
      result("scatter_reduce",
             first_part("scatter_reduce", converted(given.uop(), own), index.uop()), {&given});
  const auto begun = [&](const UOp& neutral) {
    return include_self ? *this : scatter(axis, index, Operand(neutral, {}, false));
  };
  const UOp zero = const_int(0, own), one = const_int(1, own);
  switch (how) {
    case Reduce::Sum: return begun(zero).scatter_add(axis, index, part);
    case Reduce::Prod: return product(begun(one), axis, index, part);
    case Reduce::Amax: return largest(begun(const_bits(own, lowest_bits(own))), axis, index, part);
    case Reduce::Amin: {
      const Tensor self = turned(*this);
      return turned(self.scatter_reduce(axis, index, turned(part), Reduce::Amax, include_self));
    }
    case Reduce::Mean: break;
  }
  return averaged(*this, axis, index, part, include_self);
}

Tensor Tensor::take(const Tensor& index, std::int64_t axis) const {
  const Called called;
  if (ndim() == 0) user_error("take: a scalar has no axis to take from");
  axis = axis_of("take", axis, ndim());
  const Operand x(*this), i = numbers_for("take", index, size_along(x, axis));
  const Places places = slices_along(x.uop(), static_cast<std::size_t>(axis), i.uop());
  return result("take", read_at(x.uop(), places), {&x, &i});
}

namespace {

// An index of one axis (or none), with negative ones counted from the end.
struct SliceIndex {
  std::int64_t axis;
  Operand index;
  Places places;

  SliceIndex(std::string_view op, const Tensor& x, std::int64_t given, const Tensor& by)
      : axis(axis_of(op, given, x.ndim())), index(by) {
    if (by.ndim() > 1)
      user_error(fmt::format("{}: an index of shape {} has more than one axis", op,
                             shape_text(index.uop())));
    const UOp view = x.uop();
    const auto at = static_cast<std::size_t>(axis);
    index = numbers_for(op, by, UOp(view->dims()[at]));
    index = {reshaped(index.uop(), {index_size()}), index.device, index.tracked};
    places = slices_along(view, at, index.uop());
  }

 private:
  UOp index_size() const {
    return index.uop()->dims().empty() ? const_int(1) : UOp(index.uop()->dims()[0]);
  }
};

// What is put into slices has their shape.
void want_slices(std::string_view op, const Tensor& source, const Tensor& x,
                 const SliceIndex& slices) {
  if (source.ndim() != 0 &&
      !std::ranges::equal(source.uop()->dims(), slices.places.sizes, {}, {}, &UOp::node))
    user_error(fmt::format("{}: a source of shape {} for {} slices along axis {} of shape {}", op,
                           shape_text(source.uop()),
                           size_text(slices.places.sizes[static_cast<std::size_t>(slices.axis)]),
                           slices.axis, shape_text(x.uop())));
}

}  // namespace

Tensor Tensor::index_select(std::int64_t axis, const Tensor& index) const {
  const Called called;
  const SliceIndex slices("index_select", *this, axis, index);
  const Operand x(*this);
  return result("index_select", read_at(x.uop(), slices.places), {&x, &slices.index});
}

Tensor Tensor::index_add(std::int64_t axis, const Tensor& index, const Tensor& source,
                         Scalar alpha) const {
  const Called called;
  const SliceIndex slices("index_add", *this, axis, index);
  want_slices("index_add", source, *this, slices);
  const Tensor scaled = source * Operand(alpha.as(alpha.literal()), {}, false);
  return with_written("index_add", *this, slices.places, scaled, Op::Add, {&slices.index});
}

Tensor Tensor::index_copy(std::int64_t axis, const Tensor& index, const Tensor& source) const {
  const Called called;
  const SliceIndex slices("index_copy", *this, axis, index);
  want_slices("index_copy", source, *this, slices);
  return with_written("index_copy", *this, slices.places, source, {}, {&slices.index});
}

Tensor Tensor::index_fill(std::int64_t axis, const Tensor& index, const Operand& value) const {
  const Called called;
  const SliceIndex slices("index_fill", *this, axis, index);
  if (!value.uop()->dims().empty())
    user_error(
        fmt::format("index_fill: a value of shape {} is no number", shape_text(value.uop())));
  return with_written("index_fill", *this, slices.places, value, {}, {&slices.index});
}

namespace {

// The index over all other axes of the tensor.
Operand along_all(std::string_view op, const Tensor& x, std::int64_t axis, const Tensor& index) {
  const Operand i(index);
  if (index.ndim() != x.ndim())
    user_error(fmt::format("{}: an index of shape {} has not the axes of {}", op,
                           shape_text(i.uop()), shape_text(x.uop())));
  const auto at = static_cast<std::size_t>(axis);
  Sizes sizes = sizes_of(x.uop());
  sizes[at] = UOp(i.uop()->dims()[at]);
  return {fitted(op, i.uop(), sizes), i.device, i.tracked};
}

}  // namespace

Tensor Tensor::take_along_axis(const Tensor& index, std::int64_t axis) const {
  const Called called;
  axis = axis_of("take_along_axis", axis, ndim());
  const Operand i = along_all("take_along_axis", *this, axis, index);
  return gather(axis, from(i));
}

Tensor Tensor::put_along_axis(const Tensor& index, const Operand& values, std::int64_t axis) const {
  const Called called;
  axis = axis_of("put_along_axis", axis, ndim());
  const Tensor whole = from(along_all("put_along_axis", *this, axis, index));
  const Operand x(*this), i = numbers_for("put_along_axis", whole, size_along(x, axis));
  return with_written("put_along_axis", x, elements_along("put_along_axis", x.uop(), axis, i.uop()),
                      values, {}, {&i});
}

Tensor Tensor::put(const Tensor& index, const Operand& source, bool accumulate) const {
  const Called called;
  want_integers("put", index);
  return flatten().index_put(index, source, accumulate).reshape(Shape(dims()));
}

Tensor Tensor::one_hot(std::int64_t classes) const {
  const Called called;
  want_integers("one_hot", *this);
  if (classes < -1)
    user_error(fmt::format("one_hot: {} classes: want at least 0, or -1 for as many as there are",
                           classes));
  if (classes == -1) {
    if (numel() == 0)
      user_error("one_hot: of no numbers, how many classes there are is to be said");
    classes = max().item<std::int64_t>() + 1;
  }
  want_within("one_hot", *this, const_int(classes), Negative::Refused);
  return is_class(*this, classes).cast(dtypes::i32);
}

Tensor is_class(const Tensor& numbers, std::int64_t classes) {
  const UOp each = counted(const_int(classes), dtypes::i32);
  return numbers.unsqueeze(-1) == Tensor::from({each, Symbol(numbers.device()), false});
}

}  // namespace weft
