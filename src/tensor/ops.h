// What the methods of Tensor are made with: one way to broadcast, to promote and to name what is
// wrong, for all of them.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/text.h>
#include <weft/tensor.h>

namespace weft {

// The dtype of a tensor: what is still a literal becomes i32 or f32.
DType settled(DType dtype);
// ... as a float: what is none becomes f32.
DType float_like(DType dtype);
// What products of two, and their sums, are taken in: 32 bits at least.
DType accumulator(DType dtype);
// What sums and products of many are taken in: integers and bools in 64 bits.
DType sum_dtype(DType dtype);
// The dtypes of a sum or product: of its terms, its accumulator and its result. `wanted` is what the program asks for, or
// void.
struct SumTypes {
  DType terms, within, result;
};
SumTypes sum_types(DType own, DType wanted);
// Whether an integer of this dtype can be the number, as other dtypes all can; throws where it cannot.
bool can_be(DType dtype, std::int64_t number);
void want_value(DType dtype, std::int64_t number);
// Throws where a tensor of this dtype would lose what the value is: integers a fraction, bools a number. Only assign()
// and cast() convert without a word.
void want_held(std::string_view op, DType dtype, const UOp& value);
// By CAST, of constants at once. A literal has to be a value of the dtype.
UOp converted(const UOp& value, DType dtype);

std::string size_text(const UOp& size);
std::string sizes_text(const Sizes& sizes);
std::string shape_text(const UOp& tensor);
std::int64_t axis_of(std::string_view op, std::int64_t axis, std::int64_t ndim);
Axes axes_of(std::string_view op, const AxisList& list, std::int64_t ndim);  // in the order given
// Constant sizes, with what is symbolic refused in the name of the op.
std::int64_t constant_size(std::string_view op, const UOp& size);
std::vector<std::int64_t> constant_shape(std::string_view op, const UOp& tensor);

// With other sizes. Unlike reshape() this keeps the node itself, which may be what a gradient is asked for.
UOp reshaped(const UOp& tensor, const Sizes& sizes);

// The sizes that all of these broadcast to, and each of them expanded to such.
Sizes broadcast_sizes(std::string_view op, const std::vector<UOp>& tensors);
UOp broadcast(std::string_view op, const UOp& tensor, const Sizes& sizes);

// The device of a new tensor, by its own name: CPU:0 is CPU.
Symbol device_of(const Options& options);
Symbol named_by_itself(std::string_view device);
// Whether it runs no kernels: DISK:path, say.
bool only_stores(std::string_view device);
// A new tensor, requiring a gradient where that was asked for.
Tensor as_asked(Tensor tensor, const Options& options);

// The device that all of them are on.
Symbol common_device(std::string_view op, const std::vector<const Operand*>& from);
// A tensor computed from operands: on their device, tracked where one of them is.
Tensor result(std::string_view op, const UOp& graph, const std::vector<const Operand*>& from);

// `compute(a, b)` on operands brought to one dtype and shape.
template <class F>
Tensor elementwise(std::string_view op, const Operand& a, const Operand& b, DType dtype,
                   F compute) {
  const Sizes sizes = broadcast_sizes(op, {a.uop(), b.uop()});
  return result(op,
                compute(broadcast(op, converted(a.uop(), dtype), sizes),
                        broadcast(op, converted(b.uop(), dtype), sizes)),
                {&a, &b});
}

// `compute(x)` on floats; what is none becomes f32.
template <class F>
Tensor float_unary(const Tensor& tensor, F compute) {
  const Operand x(tensor);
  return result("", compute(converted(x.uop(), float_like(x.uop()->dtype()))), {&x});
}

}  // namespace weft
