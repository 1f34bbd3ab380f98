// The memory of tensors in the program's hands: views in place, raw bytes, DLPack.

#include <limits>
#include <numeric>

#include <dlpack/dlpack.h>
#include <fmt/ranges.h>
#include <weft/dlpack.h>

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

TEST(HostView, WritesAreVisible) {
  Tensor x({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  const Tensor before = x * 10, row = x[1];
  const Tensor same = (x + 1).realize();
  {
    const auto view = x.host_view<float, 2>();
    EXPECT_EQ(view(1, 2), 6);
    EXPECT_EQ(view.extent(1), 3);
    EXPECT_EQ(view.stride(0), 3);
    EXPECT_EQ(view.size(), 6);
    view(1, 0) = 40;
    view[{0, 0}] = -1;
  }
  EXPECT_TRUE(holds<float>(x, {-1, 2, 3, 40, 5, 6}, {2, 3}));
  EXPECT_TRUE(holds<float>(row, {40, 5, 6}, {3}));
  EXPECT_TRUE(holds<float>(x + 1, {0, 3, 4, 41, 6, 7}, {2, 3}));
  EXPECT_TRUE(holds<float>(same, {2, 3, 4, 5, 6, 7}, {2, 3}));
  EXPECT_TRUE(holds<float>(before, {10, 20, 30, 40, 50, 60}, {2, 3}));
}

TEST(HostView, IsTheMemoryItself) {
  std::vector<float> memory{1, 2, 3, 4};
  Tensor x = Tensor::from_blob(memory.data(), {4});
  EXPECT_EQ((x.host_view<float, 1>().data_handle()), memory.data());
  Tensor turned = x.reshape({2, 2}).T();
  turned.host_view<float, 2>()(0, 1) = 9;  // row 1, column 0 of what is turned
  EXPECT_EQ(memory[2], 9);
  Tensor computed = x + 1;
  computed.host_view<float, 1>()(0) = 7;
  EXPECT_TRUE(holds<float>(computed, {7, 3, 10, 5}, {4}));
  EXPECT_TRUE(holds<float>(x + 1, {2, 3, 10, 5}, {4}));
}

TEST(HostView, Errors) {
  Tensor x({1.0, 2.0}), w({1.0}, {.requires_grad = true});
  EXPECT_EQ(error_of([&] { x.host_view<double, 1>(); }),
            "host_view: of f64 and 1 axes, where the tensor is f32 of shape (2,)");
  EXPECT_EQ(error_of([&] { x.host_view<float, 2>(); }),
            "host_view: of f32 and 2 axes, where the tensor is f32 of shape (2,)");
  EXPECT_TRUE(holds<float>(x, {1, 2}, {2}));
  EXPECT_EQ(
      error_of([&] { Tensor::from_bytes(std::vector<std::byte>(3), {1}, {.dtype = dtypes::f32}); }),
      "from_bytes: 3 bytes where f32 of shape (1,) has 4");
}

TEST(HostView, Bytes) {
  const std::vector<std::byte> bytes{std::byte{0x80}, std::byte{0x3f}, std::byte{0},
                                     std::byte{0x40}};
  const Tensor x = Tensor::from_bytes(bytes, {2}, {.dtype = dtypes::bf16});
  EXPECT_TRUE(holds<float>(x, {1, 2}, {2}));
  std::vector<std::byte> out(4);
  x.to_bytes(out);
  EXPECT_EQ(out, bytes);
}

// What another library hands over: strides in elements, and a deleter that counts.
struct Foreign {
  Foreign(std::vector<float> values, std::vector<std::int64_t> shape_,
          std::vector<std::int64_t> strides_)
      : memory(std::move(values)), shape(std::move(shape_)), strides(std::move(strides_)) {
    managed.dl_tensor = {.data = memory.data(),
                         .device = {kDLCPU, 0},
                         .ndim = static_cast<std::int32_t>(shape.size()),
                         .dtype = {kDLFloat, 32, 1},
                         .shape = shape.data(),
                         .strides = strides.empty() ? nullptr : strides.data(),
                         .byte_offset = 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
  }
  std::vector<float> memory;
  std::vector<std::int64_t> shape, strides;
  DLManagedTensor managed{};
  int deleted = 0;
};

std::vector<float> counted_to(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return values;
}

TEST(Dlpack, TakesOverMemoryWithItsStrides) {
  const struct {
    std::vector<std::int64_t> shape, strides;
    int elements;
  } cases[] = {{{2, 3}, {}, 6},
               {{2, 3}, {3, 1}, 6},
               {{3, 2}, {1, 3}, 6},
               {{2, 2}, {5, 2}, 8},
               {{2, 3, 2}, {2, 4, 1}, 12},
               {{2, 4}, {0, 1}, 4},
               {{2, 1, 2}, {7, 99, 3}, 11},
               {{}, {}, 1},
               {{0, 3}, {3, 1}, 0},
               {{3}, {4}, 9}};
  for (const auto& each : cases) {
    SCOPED_TRACE(fmt::format("{} by {}", each.shape, each.strides));
    Foreign foreign(counted_to(each.elements), each.shape, each.strides);
    std::vector<float> expected;
    std::vector<std::int64_t> strides = each.strides;
    if (strides.empty())
      for (std::size_t i = 0; i < each.shape.size(); ++i)
        strides.push_back(i + 1 < each.shape.size() ? each.shape[i + 1] : 1);
    std::vector<std::int64_t> at(each.shape.size());
    const std::int64_t count =
        std::accumulate(each.shape.begin(), each.shape.end(), std::int64_t{1}, std::multiplies());
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t place = 0, rest = i;
      for (std::size_t axis = each.shape.size(); axis-- > 0; rest /= each.shape[axis])
        place += rest % each.shape[axis] * strides[axis];
      expected.push_back(static_cast<float>(place));
    }
    {
      const Tensor tensor = from_dlpack(&foreign.managed);
      EXPECT_TRUE(holds<float>(tensor, expected, each.shape));
      EXPECT_EQ(foreign.deleted, 0);
    }
    EXPECT_EQ(foreign.deleted, 1);
  }
}

TEST(Dlpack, SharesMemoryBothWays) {
  Foreign foreign({1, 2, 3, 4}, {2, 2}, {});
  Tensor tensor = from_dlpack(&foreign.managed);
  tensor[0][1].assign(20).realize();
  EXPECT_EQ(foreign.memory[1], 20);
  DLManagedTensor* out = to_dlpack(tensor.T());
  EXPECT_EQ(out->dl_tensor.data, foreign.memory.data());
  EXPECT_EQ(out->dl_tensor.strides[0], 1);
  EXPECT_EQ(out->dl_tensor.strides[1], 2);
  EXPECT_EQ(out->dl_tensor.shape[0], 2);
  const Tensor back = from_dlpack(out);
  EXPECT_TRUE(holds<float>(back, {1, 3, 20, 4}, {2, 2}));
}

// The address is that of the first element of each axis, which is not the first in memory.
TEST(Dlpack, AxesMayGoBackwards) {
  Foreign foreign({0, 1, 2, 3, 4, 5}, {2, 3}, {-3, 1});
  foreign.managed.dl_tensor.byte_offset = 3 * sizeof(float);
  Tensor tensor = from_dlpack(&foreign.managed);
  EXPECT_TRUE(holds<float>(tensor, {3, 4, 5, 0, 1, 2}, {2, 3}));
  tensor[0][1].assign(40).realize();
  EXPECT_EQ(foreign.memory[4], 40);
  const Tensor back =
      from_dlpack(to_dlpack(Tensor({1, 2, 3, 4, 5, 6}).reshape({2, 3}).flip({0, 1})));
  EXPECT_TRUE(holds<int>(back, {6, 5, 4, 3, 2, 1}, {2, 3}));
}

TEST(Dlpack, Errors) {
  Foreign overlapping({1, 2, 3}, {2, 2}, {1, 1}), elsewhere({1}, {1}, {}), far({1}, {2}, {});
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  far.managed.dl_tensor.strides = &most;
  EXPECT_EQ(error_of([&] { from_dlpack(&far.managed); }),
            "from_dlpack: no memory reaches as far as its strides do");
  EXPECT_EQ(error_of([&] { from_dlpack(&overlapping.managed); }),
            "from_dlpack: a stride of 1 over 2 elements goes backwards or overlaps another");
  EXPECT_EQ(overlapping.deleted, 1);
  elsewhere.managed.dl_tensor.device.device_type = kDLCUDA;
  EXPECT_EQ(error_of([&] { from_dlpack(&elsewhere.managed); }),
            "from_dlpack: memory of device type 2 where the CPU's (1) is expected");
  EXPECT_EQ(error_of([] { from_dlpack(nullptr); }), "from_dlpack: there is no tensor");
  EXPECT_EQ(error_of([] { to_dlpack(Tensor::ones({1}, {.dtype = dtypes::f8e4m3})); }),
            "to_dlpack: DLPack has no f8e4m3: cast the tensor first");
}

}  // namespace
}  // namespace weft
