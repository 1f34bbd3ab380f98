// Tensors in parts on several devices. What becomes of their ops is the scheduler's work.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/schedule/shards.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {
namespace {

std::vector<Symbol> devices_for(const std::vector<std::string>& names) {
  if (names.empty()) user_error("shard: no devices");
  std::vector<Symbol> devices;
  for (const std::string& name : names) {
    if (are_several(name) || only_stores(name))
      user_error(fmt::format("shard: {} is no device that computes a part", name));
    devices.push_back(named_by_itself(name));
    if (std::ranges::count(devices, devices.back()) > 1)
      user_error(fmt::format("shard: device {} is given twice", devices.back().get()));
  }
  return devices;
}

Tensor in_parts(const Operand& x, Symbol devices, std::int64_t axis) {
  const ShardArg arg{static_cast<std::int32_t>(axis), devices};
  return Tensor::from({make(Op::Shard, {x.uop()}, {}, arg), devices, x.tracked});
}

}  // namespace

Tensor Tensor::shard(const std::vector<std::string>& devices,
                     std::optional<std::int64_t> axis) const {
  const Called called;
  const std::vector<Symbol> on = devices_for(devices);
  std::int64_t split = -1;
  if (axis) {
    split = axis_of("shard", *axis, ndim());
    constant_size("shard", dims()[static_cast<std::size_t>(split)].uop());
  }
  return on.size() == 1 ? to(on[0].get()) : in_parts(*this, joined_names(on), split);
}

Tensor& Tensor::shard_(const std::vector<std::string>& devices, std::optional<std::int64_t> axis) {
  return Called(), move([&](const Tensor& tensor) { return tensor.shard(devices, axis); });
}

Tensor Tensor::shard_like(const Tensor& other) const {
  const Called called;
  if (!are_several(other.device())) return to(other.device());
  const auto axis = other.shard_axis();
  if (axis)
    constant_size("shard_like",
                  dims()[static_cast<std::size_t>(axis_of("shard_like", *axis, ndim()))].uop());
  if (device() == other.device() && axis == shard_axis()) return *this;
  return in_parts(*this, Symbol(other.device()), axis.value_or(-1));
}

std::optional<std::int64_t> Tensor::shard_axis() const {
  const Called called;
  const Layout layout = layout_of(uop());
  return layout.is_split() ? std::optional(layout.axis) : std::nullopt;
}

}  // namespace weft
