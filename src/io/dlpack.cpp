// The only source that includes <dlpack/dlpack.h>.

#include <weft/dlpack.h>

#include <algorithm>
#include <limits>

#include <dlpack/dlpack.h>
#include <fmt/format.h>
#include <weft/dev/device/device.h>
#include <weft/error.h>

#include "strided.h"

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

[[noreturn]] void no_memory() {
  user_error("from_dlpack: no memory reaches as far as its strides do");
}

}  // namespace

Tensor from_dlpack(DLManagedTensor* managed) {
  const Called called;
  if (managed == nullptr) user_error("from_dlpack: there is no tensor");
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
  if (from.strides == nullptr) return Tensor::from_blob(data, Shape(shape), options, owner);
  std::vector<std::int64_t> strides(from.strides, from.strides + from.ndim), backwards;
  std::int64_t first = 0;  // of all elements in memory, from the one at place 0 of each axis
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (strides[i] >= 0 || shape[i] < 2) continue;
    std::int64_t step = 0;
    if (strides[i] == std::numeric_limits<std::int64_t>::min() ||
        __builtin_mul_overflow(shape[i] - 1, strides[i], &step) ||
        __builtin_add_overflow(first, step, &first))
      no_memory();
    strides[i] = -strides[i];
    backwards.push_back(static_cast<std::int64_t>(i));
  }
  const auto reached = reach(shape, strides);
  std::int64_t bytes = 0;
  if (!reached || __builtin_mul_overflow(first, dtype.bytes(), &bytes)) no_memory();
  const Tensor memory =
      Tensor::from_blob(static_cast<std::byte*>(data) + bytes, {*reached}, options, owner);
  const Tensor tensor = strided(memory, 0, shape, strides);
  return backwards.empty() ? tensor : tensor.flip(backwards);
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
  auto exported =  // NOLINTNEXTLINE(bugprone-invalid-enum-default-initialization): C's own
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
