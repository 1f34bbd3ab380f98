#include "places.h"

#include <limits>

#include <fmt/format.h>
#include <weft/error.h>

#include "within.h"

namespace weft {
namespace {

// Holds the places of an axis.
DType dtype_for(const UOp& size) {
  return size->bounds().hi > std::numeric_limits<std::int32_t>::max() ? dtypes::i64 : dtypes::i32;
}

// Wide enough to be compared with the size, and to be added to it.
UOp widened(const UOp& index, const UOp& size) {
  const DType dtype = index->dtype();
  if (dtype == dtypes::u64) return index;
  return cast(index, promote(dtype == dtypes::u32 ? dtypes::i64 : dtype, dtype_for(size)));
}

UOp limit(const UOp& size, DType dtype) { return converted(cast(size, dtypes::index), dtype); }

bool is_in_memory(const UOp& source) {
  return OpSet{Op::Buffer, Op::Multi, Op::Contiguous, Op::After}.contains(source->op());
}

}  // namespace

void want_integers(std::string_view op, const Tensor& index) {
  if (!index.dtype().is_int())
    user_error(fmt::format("{}: the index is {}, not an integer", op, index.dtype().str()));
}

UOp from_end(const UOp& index, const UOp& size) {
  const UOp wide = widened(index, size);
  if (wide->dtype().is_unsigned()) return wide;
  return where(wide < 0, wide + limit(size, wide->dtype()), wide);
}

Operand numbers_for(std::string_view op, const Tensor& index, const UOp& size) {
  want_integers(op, index);
  const Operand given(index);
  want_within(op, given, size);
  return {from_end(given.uop(), size), given.device, given.tracked};
}

void Places::add(const UOp& index, const UOp& size) {
  const UOp wide = widened(index, size);
  along.push_back(wide);
  const UOp below = wide < limit(size, wide->dtype());
  valid = valid & (wide->dtype().is_unsigned() ? below : below & (wide >= 0));
}

UOp steps(const Sizes& sizes, std::size_t axis, const UOp& first, std::int64_t step) {
  Sizes apart(sizes.size(), const_int(1));
  apart[axis] = sizes[axis];
  const UOp count = counted(sizes[axis], dtypes::index) * step + cast(first, dtypes::index);
  return expand(reshape(cast(count, dtype_for(sizes[axis])), apart), sizes);
}

UOp spread(const UOp& tensor, const Sizes& sizes, std::size_t axis) {
  Sizes own = sizes_of(tensor);
  own.insert(own.begin(), axis, const_int(1));
  own.resize(sizes.size(), const_int(1));
  return expand(reshape(tensor, own), sizes);
}

Places slices_along(const UOp& tensor, std::size_t axis, const UOp& index) {
  const Sizes own = sizes_of(tensor), by = sizes_of(index);
  Places places;
  places.sizes = own;
  const auto at = places.sizes.erase(places.sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  places.sizes.insert(at, by.begin(), by.end());
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (k == axis)
      places.add(spread(index, places.sizes, axis), own[k]);
    else
      places.along.push_back(steps(places.sizes, k < axis ? k : k + by.size() - 1, const_int(0)));
  }
  return places;
}

UOp place(const UOp& memory, const Places& places) {
  std::vector<UOp> src{memory, places.valid};
  src.insert(src.end(), places.along.begin(), places.along.end());
  return make(Op::Index, src);
}

// What is read at places that only the run knows lies in memory.
UOp read_at(const UOp& source, const Places& places) {
  const UOp memory = is_in_memory(source) ? source : make(Op::Contiguous, {source});
  return make(Op::Load, {place(memory, places)});
}

UOp written_at(const UOp& memory, const Places& places, const UOp& values,
               std::optional<Op> combine) {
  if (has_no_elements(memory)) return memory;  // nor a place
  const StoreArg arg{combine.has_value(), combine.value_or(Op::Add)};
  return make(Op::After, {memory, make(Op::Store, {place(memory, places), values}, {}, arg)});
}

UOp fitted(std::string_view op, const UOp& values, const Sizes& sizes) {
  bool fits = values->dims().size() <= sizes.size();
  for (std::size_t i = 0, from = sizes.size() - values->dims().size();
       fits && i < values->dims().size(); ++i)
    fits = values->dims()[i]->is_const_int(1) || values->dims()[i] == sizes[from + i].node();
  if (!fits)
    user_error(fmt::format("{}: shape {} does not fit places of shape {}", op, shape_text(values),
                           sizes_text(sizes)));
  if (!values->dims().empty()) return broadcast(op, values, sizes);
  return expand(reshape(values, Sizes(sizes.size(), const_int(1))), sizes);
}

// Without REMAT's id, equal copies would be one, and what one user stores the other would find.
UOp copy_of(const UOp& values) {
  return make(Op::Contiguous, {make(Op::Remat, {values}, {}, IdArg{fresh_id()})});
}

Tensor with_written(std::string_view op, const Operand& tensor, const Places& places,
                    const Operand& values, std::optional<Op> combine,
                    std::vector<const Operand*> from) {
  from.insert(from.end(), {&tensor, &values});
  want_held(op, tensor.uop()->dtype(), values.uop());
  const DType own = tensor.uop()->dtype();
  // Of narrow floats many would add up to less: 1 more than 256 in bf16 is 256.
  const DType within = combine && own.is_float() && own.bytes() < 4 ? dtypes::f32 : own;
  const UOp ready = cast(fitted(op, converted(values.uop(), own), places.sizes), within);
  const UOp written = written_at(copy_of(cast(tensor.uop(), within)), places, ready, combine);
  return result(op, cast(written, own), from);
}

}  // namespace weft
