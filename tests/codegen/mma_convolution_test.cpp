// Convolutions of bytes where an instruction adds up their products: windows with padding and steps, dimensions in either
// order, weights that stay and others.

#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <weft/dev/device/device.h>
#include <weft/tensor.h>

#include "../support/errors.h"

namespace weft {
namespace {

struct Maps {
  std::int64_t channels, rows, columns, outputs, kernel;
  std::int64_t stride = 1, padding = 0;
  bool are_channels_last = false;
};

constexpr Maps all_maps[] = {
    {64, 14, 14, 64, 1},
    {64, 14, 14, 64, 1, 1, 0, true},
    {32, 9, 13, 40, 3, 1, 1},
    {32, 9, 13, 40, 3, 1, 1, true},
    {64, 14, 14, 128, 3, 2, 1, true},
    {3, 30, 30, 32, 7, 2, 3},
    {128, 7, 7, 64, 1, 2, 0, true},
    {30, 11, 7, 17, 3, 1, 1, true},
};

std::string name_of(const Maps& maps) {
  return fmt::format("{}x{}x{} to {}, {} by {}, {}", maps.channels, maps.rows, maps.columns,
                     maps.outputs, maps.kernel, maps.stride,
                     maps.are_channels_last ? "channels last" : "channels first");
}

class MmaConvolutions : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string error = error_of([] { return &find_device(GetParam()); });
    if (error != "no error") GTEST_SKIP() << error;
  }

  template <class Number>
  static Tensor bytes(const std::vector<std::int64_t>& shape) {
    std::mt19937 numbers(5);
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    std::vector<Number> values(static_cast<std::size_t>(count));
    for (Number& value : values) value = static_cast<Number>(numbers());
    return Tensor(values).reshape(shape);
  }

  static std::vector<std::int32_t> sums(const Maps& maps, const std::string& device,
                                        bool is_frozen) {
    const auto& [channels, rows, columns, outputs, kernel, stride, padding, last] = maps;
    using Sizes = std::vector<std::int64_t>;
    Tensor x = bytes<std::uint8_t>(last ? Sizes{1, rows, columns, channels}
                                        : Sizes{1, channels, rows, columns})
                   .to(device)
                   .realize();
    Tensor w = bytes<std::int8_t>({outputs, channels, kernel, kernel}).to(device).realize();
    if (is_frozen) w.freeze();
    if (last) x = x.permute({0, 3, 1, 2});
    const ConvOptions options{.stride = stride, .padding = padding, .dtype = dtypes::i32};
    const Tensor y = x.cast(dtypes::i32).conv(w.cast(dtypes::i32), {}, options);
    return (last ? y.permute({0, 2, 3, 1}) : y).contiguous().to_vector<std::int32_t>();
  }
};

TEST_P(MmaConvolutions, AreExact) {
  for (const Maps& maps : all_maps) {
    const std::vector<std::int32_t> expected = sums(maps, "INTERP", false);
    for (const bool is_frozen : {false, true})
      EXPECT_EQ(sums(maps, GetParam(), is_frozen), expected)
          << name_of(maps) << (is_frozen ? ", frozen" : "");
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, MmaConvolutions,
                         testing::Values("CPU", "CPU:LLVM:x86-64-v3", "CPU:LLVM:x86-64-v3-vnni",
                                         "CPU:LLVM:x86-64-v4-vnni", "CPU:LLVM:sapphirerapids",
                                         "CPU:LLVM:x86-64-v4"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (std::isalnum(c) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace weft
