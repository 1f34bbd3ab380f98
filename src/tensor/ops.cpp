#include "ops.h"

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/multi.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft {

DType settled(DType dtype) {
  if (dtype.is_index()) return dtypes::i32;
  return dtype == dtypes::weak ? dtypes::f32 : dtype;
}

DType float_like(DType dtype) { return dtype.is_float() && !dtype.is_weak() ? dtype : dtypes::f32; }

DType accumulator(DType dtype) {
  if (dtype.is_bool()) return dtypes::i32;
  if (dtype.is_int()) return promote(dtype, dtype.is_unsigned() ? dtypes::u32 : dtypes::i32);
  return promote(dtype, dtypes::f32);
}

DType sum_dtype(DType dtype) {
  if (dtype.is_float()) return accumulator(dtype);
  return dtype == dtypes::u64 ? dtype : dtypes::i64;
}

SumTypes sum_types(DType own, DType wanted) {
  if (!wanted.is_void()) return {wanted, wanted.is_float() ? accumulator(wanted) : wanted, wanted};
  const DType within = sum_dtype(own);
  return {within, within, own.is_float() ? own : within};
}

bool can_be(DType dtype, std::int64_t number) {
  if (!dtype.is_int() || dtype.is_index()) return true;
  if (dtype.is_unsigned() && number < 0) return false;
  return int_from_bits(bits_from_int(number, dtype), dtype) == number;
}

void want_value(DType dtype, std::int64_t number) {
  if (!can_be(dtype, number))
    user_error(fmt::format(
        "{} is not a value of {}, where it would wrap around: cast the tensor or the number first",
        number, dtype.str()));
}

UOp converted(const UOp& value, DType dtype) {
  if (!value->is_const()) return cast(value, dtype);
  if (value->dtype().is_index()) want_value(dtype, value->lo());
  return const_bits(dtype, convert(value->arg<ConstArg>().bits, value->dtype(), dtype));
}

std::string size_text(const UOp& size) { return expression_text(size.node()); }

std::string sizes_text(const Sizes& sizes) { return sizes_text(nodes_of(sizes)); }
std::string shape_text(const UOp& tensor) { return sizes_text(tensor->dims()); }

std::int64_t axis_of(std::string_view op, std::int64_t axis, std::int64_t ndim) {
  if (axis < -ndim || axis >= ndim)
    user_error(fmt::format("{}: there is no axis {} in a tensor of {} axes", op, axis, ndim));
  return axis < 0 ? axis + ndim : axis;
}

Axes axes_of(std::string_view op, const AxisList& list, std::int64_t ndim) {
  Axes axes;
  if (list.is_all())
    for (std::int64_t i = 0; i < ndim; ++i) axes.push_back(i);
  for (std::int64_t axis : list.axes()) {
    if (ndim == 0 && (axis == 0 || axis == -1)) continue;  // as of a tensor of one element
    axes.push_back(axis_of(op, axis, ndim));
    if (std::ranges::count(axes, axes.back()) > 1)
      user_error(fmt::format("{}: axis {} is given twice", op, axis));
  }
  return axes;
}

std::int64_t constant_size(std::string_view op, const UOp& size) {
  if (!size->is_const())
    user_error(fmt::format("{}: the size {} is symbolic, and has to be a number here", op,
                           size_text(size)));
  return size->lo();
}

std::vector<std::int64_t> constant_shape(std::string_view op, const UOp& tensor) {
  std::vector<std::int64_t> shape;
  for (const Node* size : tensor->dims()) shape.push_back(constant_size(op, UOp(size)));
  return shape;
}

UOp reshaped(const UOp& tensor, const Sizes& sizes) {
  if (std::ranges::equal(tensor->dims(), sizes, {}, {}, &UOp::node)) return tensor;
  return make(Op::Reshape, {tensor, tuple(sizes)});
}

Sizes broadcast_sizes(std::string_view op, const std::vector<UOp>& tensors) {
  Sizes sizes;
  for (const UOp& tensor : tensors) {
    const NodeList dims = tensor->dims();
    if (dims.size() > sizes.size()) sizes.insert(sizes.begin(), dims.size() - sizes.size(), UOp());
    for (std::size_t i = 0; i < dims.size(); ++i) {
      UOp& size = sizes[sizes.size() - dims.size() + i];
      if (size.is_null() || size->is_const_int(1))
        size = UOp(dims[i]);
      else if (size.node() != dims[i] && !dims[i]->is_const_int(1)) {
        std::vector<std::string> shapes;
        for (const UOp& each : tensors) shapes.push_back(shape_text(each));
        user_error(fmt::format("{}: shapes {} do not broadcast: {} does not match {}", op,
                               fmt::join(shapes, " and "), size_text(size),
                               expression_text(dims[i])));
      }
    }
  }
  return sizes;
}

UOp broadcast(std::string_view op, const UOp& tensor, const Sizes& sizes) {
  const NodeList dims = tensor->dims();
  if (dims.empty()) return tensor;  // a scalar fits every shape
  if (dims.size() > sizes.size())
    user_error(fmt::format("{}: shape {} does not broadcast to {} axes", op, shape_text(tensor),
                           sizes.size()));
  Sizes padded(sizes.size() - dims.size(), const_int(1));
  for (const Node* size : dims) padded.emplace_back(size);
  return expand(reshaped(tensor, padded), sizes);
}

Symbol device_of(const Options& options) {
  const std::string name = options.device.empty() ? default_device() : options.device;
  return named_by_itself(name);
}

Symbol named_by_itself(std::string_view device) {
  std::vector<Symbol> names;
  for (const Device* each : find_devices(device)) names.emplace_back(std::string(each->name()));
  return joined_names(names);
}

bool only_stores(std::string_view device) {
  return !are_several(device) && !find_device(device).runs_kernels();
}

Tensor as_asked(Tensor tensor, const Options& options) {
  if (options.requires_grad) tensor.set_requires_grad();
  return tensor;
}

Symbol common_device(std::string_view op, const std::vector<const Operand*>& from) {
  Symbol device;
  for (const Operand* operand : from) {
    if (operand->device.empty()) continue;
    if (!device.empty() && device != operand->device)
      user_error(fmt::format(
          "{}: one tensor is on {}, another on {}: move one with {}", op, device.get(),
          operand->device.get(),
          are_several(device.get()) || are_several(operand->device.get()) ? "shard()" : "to()"));
    device = operand->device;
  }
  return device;
}

Tensor result(std::string_view op, const UOp& graph, const std::vector<const Operand*>& from) {
  const bool tracked = std::ranges::any_of(from, &Operand::tracked);
  return Tensor::from({graph, common_device(op, from), tracked});
}

}  // namespace weft
