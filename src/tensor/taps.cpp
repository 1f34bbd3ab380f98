#include "taps.h"

#include <limits>

#include "ops.h"
#include "windows.h"

namespace weft {
namespace {

// Integers as wide as places in an axis need to be multiplied with a number below `count`.
DType dtype_for(std::int64_t size, std::int64_t count) {
  const bool fits =
      size < std::numeric_limits<std::int32_t>::max() / std::max<std::int64_t>(count, 1);
  return fits ? dtypes::i32 : dtypes::i64;
}

// (new, taps) as axes `at` and `at + dims` of so many.
Tensor apart(const Tensor& tensor, std::size_t at, std::size_t dims, std::size_t axes) {
  std::vector<Dim> sizes(axes, Dim(1));
  sizes[at] = Dim(tensor.size(0));
  sizes[at + dims] = Dim(tensor.size(1));
  return tensor.reshape(Shape(sizes));
}

}  // namespace

Tensor along(const Tensor& tensor, std::size_t at, std::size_t axes) {
  std::vector<Dim> sizes(axes, Dim(1));
  sizes[at] = tensor.dims()[0];
  return tensor.reshape(Shape(sizes));
}

namespace {

// The places as an INDEX takes them, after a condition that they are inside of these sizes.
struct TapIndices {
  TapIndices(std::string_view op, const std::vector<Tensor>& places, const Sizes& own) {
    operands.assign(places.begin(), places.end());
    for (const Operand& place : operands) along.push_back(place.uop());
    const Sizes sizes = broadcast_sizes(op, along);
    for (std::size_t axis = 0; axis < along.size(); ++axis) {
      UOp& place = along[axis];
      const UOp limit = converted(weft::cast(own[axis], dtypes::index), place->dtype());
      const UOp inside = (place >= const_int(0, place->dtype())) & (place < limit);
      valid = valid & broadcast(op, inside, sizes);
      place = broadcast(op, place, sizes);
    }
  }

  UOp in(const UOp& memory) const {
    std::vector<UOp> src{memory, valid};
    src.insert(src.end(), along.begin(), along.end());
    return make(Op::Index, src);
  }
  std::vector<const Operand*> with(const Operand& tensor) const {
    std::vector<const Operand*> from{&tensor};
    for (const Operand& place : operands) from.push_back(&place);
    return from;
  }

  std::vector<Operand> operands;
  std::vector<UOp> along;
  UOp valid = const_bool(true);
};

}  // namespace

Tensor read_at(std::string_view op, const Tensor& tensor, const std::vector<Tensor>& places) {
  const Operand x(tensor);
  const TapIndices at(op, places, sizes_of(x.uop()));
  const UOp memory = x.uop()->op() == Op::Buffer ? x.uop() : make(Op::Contiguous, {x.uop()});
  return result(op, make(Op::Load, {at.in(memory)}), at.with(x));
}

// Without REMAT's id, equal memory would be one, and what one user stores the other would find.
Tensor written_at(std::string_view op, const Tensor& values, const std::vector<Tensor>& places,
                  const Shape& shape) {
  const Operand x(values);
  const Operand zeros(Tensor::zeros(shape, {.dtype = values.dtype(), .device = values.device()}));
  const TapIndices at(op, places, sizes_of(zeros.uop()));
  const UOp memory = make(Op::Contiguous, {make(Op::Remat, {zeros.uop()}, {}, IdArg{fresh_id()})});
  const UOp store = make(Op::Store, {at.in(memory), x.uop()}, {}, StoreArg{});
  return result(op, make(Op::After, {memory, store}), at.with(x));
}

Tensor read_taps(std::string_view op, const Tensor& tensor, const std::vector<Taps>& taps) {
  const std::vector<Dim> own = tensor.dims();
  const std::size_t dims = taps.size(), batch = own.size() - dims, axes = own.size() + dims;
  std::vector<Tensor> places;
  for (std::size_t axis = 0; axis < batch; ++axis)
    places.push_back(
        along(Tensor::from({counted(own[axis].uop(), dtypes::i32), Symbol(tensor.device()), false}),
              axis, axes));
  for (std::size_t i = 0; i < dims; ++i)
    places.push_back(apart(taps[i].place, batch + i, dims, axes));
  return read_at(op, tensor, places);
}

Tensor sum_of_taps(std::string_view op, const Tensor& tensor, const std::vector<Taps>& taps) {
  const std::size_t dims = taps.size(), axes = tensor.uop()->dims().size() + dims;
  const DType own = float_like(tensor.dtype());
  Tensor sum = read_taps(op, tensor, taps).cast(promote(own, dtypes::f32));
  for (std::size_t i = 0; i < dims; ++i)
    if (!taps[i].weight.is_null())
      sum = sum * apart(taps[i].weight, axes - 2 * dims + i, dims, axes);
  return sum.sum(last_axes(dims)).cast(own);
}

Taps even_windows(const Tensor& tensor, std::int64_t axis, std::int64_t count) {
  const std::int64_t size = tensor.size(axis);
  const Options options{.dtype = dtype_for(size, count + 1), .device = tensor.device()};
  const Tensor window = Tensor::arange(count, options).unsqueeze(1);
  const Tensor start = (window * size).floordiv(count);
  const Tensor end = ((window + 1) * size + (count - 1)).floordiv(count);
  const std::int64_t most = size % count == 0 ? size / count : std::min(size, size / count + 2);
  const Tensor place = start + Tensor::arange(most, options);
  const Tensor share =
      (end - start).cast(promote(float_like(tensor.dtype()), dtypes::f32)).reciprocal();
  return {place.minimum(end - 1), (place < end).where(share, 0.0)};
}

}  // namespace weft
