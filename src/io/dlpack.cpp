// The only source that includes <dlpack/dlpack.h>.

#include <weft/dlpack.h>

#include <algorithm>
#include <numeric>

#include <dlpack/dlpack.h>
#include <fmt/format.h>
#include <weft/dev/device/device.h>
#include <weft/error.h>

namespace weft {
namespace {

constexpr std::uint8_t dl_bool = 6;  // younger than some versions of the header

struct Coded {
  std::uint8_t code, bits;
  DType dtype;
};
constexpr Coded coded[] = {
    {dl_bool, 8, dtypes::bool_}, {kDLInt, 8, dtypes::i8},       {kDLInt, 16, dtypes::i16},
    {kDLInt, 32, dtypes::i32},   {kDLInt, 64, dtypes::i64},     {kDLUInt, 8, dtypes::u8},
    {kDLUInt, 16, dtypes::u16},  {kDLUInt, 32, dtypes::u32},    {kDLUInt, 64, dtypes::u64},
    {kDLFloat, 16, dtypes::f16}, {kDLBfloat, 16, dtypes::bf16}, {kDLFloat, 32, dtypes::f32},
    {kDLFloat, 64, dtypes::f64},
};

DType dtype_of(const DLDataType& type) {
  const auto* found = std::ranges::find_if(coded, [&](const Coded& each) {
    return each.code == type.code && each.bits == type.bits && type.lanes == 1;
  });
  if (found == std::end(coded))
    user_error(fmt::format("from_dlpack: there is no dtype for code {} of {} bits, {} lanes",
                           type.code, type.bits, type.lanes));
  return found->dtype;
}

// An axis in memory: how many steps, how wide.
struct Step {
  std::int64_t axis, size, stride;
};

// The axes that move through memory, the widest steps first.
std::vector<Step> steps_of(const DLTensor& from) {
  std::vector<Step> steps;
  for (std::int64_t axis = 0; axis < from.ndim; ++axis)
    if (from.shape[axis] != 1 && from.strides[axis] != 0)
      steps.push_back({axis, from.shape[axis], from.strides[axis]});
  std::ranges::sort(steps, std::greater(), &Step::stride);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool fits = steps[i].stride > 0 &&
                      (i == 0 || (steps[i].size - 1) * steps[i].stride < steps[i - 1].stride);
    if (!fits)
      user_error(fmt::format(
          "from_dlpack: a stride of {} over {} elements goes backwards or overlaps another",
          steps[i].stride, steps[i].size));
  }
  return steps;
}

// Row-major memory as the steps see it: each takes pieces of its stride, and the next goes on within one.
Tensor stepped(Tensor memory, const std::vector<Step>& steps) {
  std::vector<std::int64_t> sizes;
  for (const Step& step : steps) {
    const auto last = static_cast<std::int64_t>(sizes.size());
    const std::int64_t have = memory.size(last), want = step.size * step.stride;
    if (have > want) memory = memory.slice(last, {.stop = want});
    Tensor::Bounds padding(sizes.size(), {0, 0});
    padding.emplace_back(0, std::max<std::int64_t>(0, want - have));
    if (have < want) memory = memory.pad(padding);
    sizes.push_back(step.size);
    std::vector<std::int64_t> cut = sizes;
    cut.push_back(step.stride);
    memory = memory.reshape(Shape(cut));
  }
  const auto last = static_cast<std::int64_t>(sizes.size());
  return memory.slice(last, {.stop = 1}).reshape(Shape(sizes));
}

Tensor strided(const Tensor& memory, const DLTensor& from, const std::vector<Step>& steps) {
  Tensor tensor = stepped(memory, steps);
  std::vector<std::int64_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::int64_t at) { return steps[std::size_t(at)].axis; });
  tensor = tensor.permute(order);
  std::vector<std::int64_t> ones, shape(from.shape, from.shape + from.ndim);
  for (std::int64_t axis = 0; axis < from.ndim; ++axis)
    ones.push_back(from.strides[axis] == 0 ? 1 : from.shape[axis]);
  return tensor.reshape(Shape(ones)).expand(Shape(shape));
}

}  // namespace

Tensor from_dlpack(DLManagedTensor* managed) {
  const Called called;
  const std::shared_ptr<DLManagedTensor> owner(managed, [](DLManagedTensor* taken) {
    if (taken->deleter != nullptr) taken->deleter(taken);
  });
  const DLTensor& from = managed->dl_tensor;
  if (from.device.device_type != kDLCPU)
    user_error(fmt::format("from_dlpack: memory of device type {} where the CPU's ({}) is expected",
                           static_cast<int>(from.device.device_type), static_cast<int>(kDLCPU)));
  const DType dtype = dtype_of(from.dtype);
  const std::vector<std::int64_t> shape(from.shape, from.shape + from.ndim);
  const Options options{.dtype = dtype, .device = "CPU"};
  void* data = static_cast<std::byte*>(from.data) + from.byte_offset;
  const bool is_empty = std::ranges::count(shape, 0) > 0;
  if (from.strides == nullptr || is_empty)
    return Tensor::from_blob(data, Shape(shape), options, owner);
  const std::vector<Step> steps = steps_of(from);
  std::int64_t reached = 1;
  for (const Step& step : steps) reached += (step.size - 1) * step.stride;
  return strided(Tensor::from_blob(data, {reached}, options, owner), from, steps);
}

namespace {

struct Exported {
  Tensor tensor;  // keeps the memory
  std::vector<std::int64_t> shape, strides;
  DLManagedTensor managed;
};

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  const Called called;
  const auto* found = std::ranges::find(coded, tensor.dtype(), &Coded::dtype);
  if (found == std::end(coded))
    user_error(
        fmt::format("to_dlpack: DLPack has no {}: cast the tensor first", tensor.dtype().str()));
  Tensor here = tensor;
  if (are_several(here.device()) || !find_device(here.device()).allocator().uses_addresses())
    here = here.to("CPU");
  auto memory = here.memory();
  if (!memory) memory = (here = here.contiguous()).memory();
  if (!memory) internal_error("what is contiguous is not in order");
  auto exported =
      std::make_unique<Exported>(Exported{here, here.shape(), std::move(memory->strides), {}});
  DLTensor& to = exported->managed.dl_tensor;
  to.data = memory->first;
  to.device = {kDLCPU, 0};
  to.ndim = static_cast<std::int32_t>(exported->shape.size());
  to.dtype = {found->code, found->bits, 1};
  to.shape = exported->shape.data();
  to.strides = exported->strides.data();
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Exported*>(self->manager_ctx);
  };
  return &exported.release()->managed;
}

}  // namespace weft
