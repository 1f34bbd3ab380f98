// New tensors: constants, numbers in order.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "arguments.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// --- Constants ----------------------------------------------------------------------------------------------

template <class T>
Tensor scalar(const Call& call, std::string_view name, DType dtype) {
  return Tensor::constant(call.attr<T>(name), call.options(dtype));
}

template <class T>
Tensor line(const Call& call, std::string_view name, DType dtype) {
  return Tensor(call.attr<std::vector<T>>(name), call.options()).cast(dtype);
}

Values constant(const Call& call) {
  for (const std::string_view name : {"value", "sparse_value"})
    if (call.has(name)) return {call.attr<Value>(name)};
  if (call.has("value_float")) return {scalar<double>(call, "value_float", dtypes::f32)};
  if (call.has("value_floats")) return {line<double>(call, "value_floats", dtypes::f32)};
  if (call.has("value_int")) return {Value::known({call.attr<std::int64_t>("value_int")}, true)};
  if (call.has("value_ints")) return {line<std::int64_t>(call, "value_ints", dtypes::i64)};
  if (call.has("value_string")) return {Text{{}, {call.attr<std::string>("value_string")}}};
  if (!call.has("value_strings")) call.refuse("it has no value");
  const auto strings = call.attr<std::vector<std::string>>("value_strings");
  return {Text{{std::ssize(strings)}, strings}};
}

Values constant_of_shape(const Call& call) {
  const std::vector<Dim> sizes = call.dims(0);
  if (!call.has("value")) return {Tensor::zeros(sizes, call.options(dtypes::f32))};
  const auto value = call.attr<Value>("value");
  Tensor one = value.tensor();
  one.freeze();
  if (one.numel() != 1) call.refuse(fmt::format("a value of {} elements: want 1", one.numel()));
  // A number that is known takes no memory: what is made of it and of places alone is a mask by places.
  if (one.dtype().is_float())
    return {
        Value(Tensor::full(sizes, one.item<double>(), call.options(one.dtype())), value.type())};
  return {Value(one.to(call.options().device).reshape({}).expand(sizes), value.type())};
}

Type type_or(const Call& call, std::string_view name, Type otherwise) {
  return call.has(name) ? call.attr<Type>(name) : otherwise;
}

Tensor eye_like(const Call& call) {
  constexpr std::int64_t beyond = std::int64_t{1} << 48;
  const Tensor x = call.tensor(0);
  if (x.ndim() != 2) call.refuse(fmt::format("an input of {} axes: want 2", x.ndim()));
  const DType dtype = dtype_of(type_or(call, "dtype", type_of(x.dtype())));
  const std::int64_t k = std::clamp<std::int64_t>(call.attr("k", 0), -beyond, beyond);
  return x.ones_like({.dtype = dtype}).triu(k).tril(k);
}

// --- In order -------------------------------------------------------------------------------------------------

// As unsigned numbers, since the distance may have 64 bits.
std::uint64_t count_of_steps(std::int64_t start, std::int64_t limit, std::int64_t step) {
  if (step > 0 ? start >= limit : start <= limit) return 0;
  const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(limit);
  const auto by = static_cast<std::uint64_t>(step);
  const std::uint64_t distance = step > 0 ? to - from : from - to, width = step > 0 ? by : 0 - by;
  return distance / width + (distance % width != 0 ? 1 : 0);
}

Tensor range_of_integers(const Call& call, DType dtype) {
  const std::int64_t start = call.integer(0), limit = call.integer(1), step = call.integer(2);
  if (step == 0) call.refuse("a step of 0");
  const std::uint64_t count = count_of_steps(start, limit, step);
  if (count > std::uint64_t{1} << 53)
    call.refuse(fmt::format("from {} to {} by {} there are too many", start, limit, step));
  const Tensor steps = Tensor::arange(static_cast<std::int64_t>(count), call.options(dtypes::i64));
  return (steps * step + start).cast(dtype);
}

// Each is the start and so many steps, in the dtype that the node asks for where theirs is a short one.
Tensor range_of_reals(const Call& call, DType dtype) {
  const double start = call.number(0), step = call.number(2);
  const double count = std::max(std::ceil((call.number(1) - start) / step), 0.0);
  if (step == 0 || !(count <= 0x1p53))
    call.refuse(fmt::format("from {} to {} by {}", start, call.number(1), step));
  const DType within = dtype == dtypes::f16 || dtype == dtypes::bf16
                           ? dtype_of(type_or(call, "stash_type", Type::F32))
                           : dtype;
  const Tensor steps =
      Tensor::arange(static_cast<std::int64_t>(count), call.options(dtypes::i64)).cast(within);
  return (steps * step + start).cast(dtype);
}

Tensor range(const Call& call) {
  const DType dtype = call.tensor(0).dtype();
  return dtype.is_float() ? range_of_reals(call, dtype) : range_of_integers(call, dtype);
}

}  // namespace

OpTable creation_ops() {
  static const Op ops[] = {
      {"Constant", 1, constant},
      {"ConstantOfShape", 9, constant_of_shape},
      {"EyeLike", 9, eye_like},
      {"Range", 11, range},
  };
  return {"", ops};
}

}  // namespace weft::onnx
