// What libraries are written for: C with vectors and without, and machines that are not here.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <weft/dev/device/device.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "library.h"

namespace weft {
namespace {

using Named = std::vector<NamedTensor>;

bool has_program(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null").c_str()) == 0;
}

Tensor numbers(const Shape& shape, const std::string& device, float from, float to) {
  return (Tensor::rand(shape, {.device = device}) * (to - from) + from).realize();
}

// Sums in tiles, windows with borders, orders of lanes, masks of all widths, and each kind of conversion.
Named many_things(const Tensor& image, const Tensor& rows, const Tensor& weights) {
  const Tensor features = image.conv2d(weights, {}, {.padding = 1});
  const Tensor product = rows.matmul(rows.transpose(0, 1));
  const Tensor whole = (rows * 1e4F).cast(dtypes::i32), bytes = (rows * 100).cast(dtypes::u8);
  return {{"features", features.relu().max_pool2d({3, 3})},
          {"softmax", product.softmax(-1)},
          {"largest", product.max(0)},
          {"turned", rows.transpose(0, 1) + 1},
          {"whole", whole * whole + (whole >> 3)},
          {"wide", whole.cast(dtypes::i64) * 3 - 5},
          {"bytes", bytes + 200},
          {"bytes as floats", bytes.cast(dtypes::f32) / 3},
          {"half", (rows / 7).cast(dtypes::f16)},
          {"double", rows.cast(dtypes::f64).sqrt()},
          {"positive", (rows > 0) & (whole < 5000)},
          {"chosen", (rows > 0.25F).where(rows, whole.cast(dtypes::f32))},
          {"count", (rows > 0).cast(dtypes::i32).sum(1)},
          {"shifted", rows.pad({{1, 2}, {3, 0}})},
          {"every third", rows[Slice(0, 40, 3)] * 2}};
}

TEST(Targets, CGivesTheSameBitsWithVectorsAndWithout) {
  const std::string device = export_device("c");
  Tensor::manual_seed(3);
  const Tensor weights = numbers({7, 3, 3, 3}, device, -1, 1).freeze();
  const ExportedFunction function = [&](const std::vector<Tensor>& given) {
    return many_things(given[0], given[1], weights);
  };
  const Named inputs{{"image", numbers({1, 3, 19, 21}, device, -1, 1)},
                     {"rows", numbers({40, 37}, device, -1, 1)}};
  std::vector<Bytes> expected;
  std::vector<std::size_t> sizes;
  for (const auto& [name, tensor] : many_things(inputs[0].second, inputs[1].second, weights)) {
    expected.push_back(bytes_of(tensor));
    sizes.push_back(expected.back().size());
  }
  for (const char* compiler : {"gcc", "gcc -DWEFT_NO_VECTORS", "gcc -O3 -march=native", "clang-19",
                               "clang-19 -DWEFT_NO_VECTORS"}) {
    const std::string program(compiler, std::strcspn(compiler, " "));
    if (!has_program(program)) continue;
    const ExportedLibrary library(function, inputs, "c", compiler);
    const std::string source = text_of_file(library.file("net.c"));
    EXPECT_NE(source.find("VECTOR(f32, 4, 4)"), std::string::npos);
    const auto found = library({inputs[0].second, inputs[1].second}, sizes);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], expected[i]) << compiler << " " << i;
  }
}

// The machine that compiles as it is assumed to be, and as it is measured, with as many cores.
TEST(Targets, OtherMachinesAreTheSameWhereverTheyAreCompiledFor) {
  for (const char* target : {"cpu=x86-64-v2", "cpu=aarch64,cortex-a78ae", "cpu=riscv64,v", "c"}) {
    const std::string device = export_device(target);
    const auto files = [&](const TemporaryFolder& cache, int calibrate) {
      const Context context{{"CALIBRATE", calibrate},
                            {"CACHE_DIR", std::string_view(cache.path().native())}};
      Tensor::manual_seed(5);
      const Tensor weights = numbers({64, 96}, device, -1, 1).freeze();
      const TemporaryFolder out;
      const ExportReport report = export_c(
          [&](const std::vector<Tensor>& given) {
            return Named{{"y", given[0].matmul(weights).gelu().softmax(-1)}};
          },
          {{"x", numbers({50, 64}, device, -1, 1)}}, out.path().string(), {.target = target});
      std::string all;
      for (const std::string& file : report.files) all += text_of_file((out / file).string());
      return all;
    };
    const TemporaryFolder assumed, measured;
    const std::string expected = files(assumed, 0);
    EXPECT_GT(expected.size(), 64U * 96 * sizeof(float)) << target;
    EXPECT_EQ(files(measured, 1), expected) << target;
  }
}

TEST(Targets, AreProcessorsWithNumbersOfTheirOwn) {
  const DeviceModel orin = find_device(export_device("cpu=aarch64,cortex-a78ae")).target().machine;
  EXPECT_EQ(orin.memory.at(0).bytes, 64 << 10);
  EXPECT_EQ(orin.memory.at(1).bytes, 256 << 10);
  EXPECT_EQ(orin.workers(), 8);
  const DeviceModel apple = find_device(export_device("cpu=aarch64,apple-m1")).target().machine;
  EXPECT_EQ(apple.line, 128);
  for (const char* target : {"cpu=aarch64", "cpu=aarch64,cortex-a53", "cpu=riscv64,v"})
    EXPECT_EQ(find_device(export_device(target)).target().machine.registers, 32) << target;
  const Target c = find_device(export_device("c")).target();
  EXPECT_EQ(c.vector_bytes, 16);
  EXPECT_EQ(c.machine.registers, 16);
  EXPECT_FALSE(c.ops.contains(Op::MulAcc));
  const Context two{{"WEFT_THREADS", 2}};
  EXPECT_EQ(find_device(export_device("c")).target().machine.workers(), 2);
}

}  // namespace
}  // namespace weft
