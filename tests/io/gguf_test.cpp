// What the package gguf wrote, and how it decodes it (data/make_gguf.py).

#include <random>

#include <weft/jit.h>
#include <weft/state.h>

#include "files.h"

namespace weft {
namespace {

using GgufFile = InFolder;

// --- A file's parts -----------------------------------------------------------------------------

std::string number(std::uint64_t value, std::size_t width) {
  return std::string(reinterpret_cast<const char*>(&value), width);
}
std::string start(std::uint64_t tensors, std::uint64_t keys) {
  return "GGUF" + number(3, 4) + number(tensors, 8) + number(keys, 8);
}
std::string text(const std::string& value) { return number(value.size(), 8) + value; }
std::string tensor(const std::vector<std::uint64_t>& sizes, std::uint32_t type, std::uint64_t at) {
  std::string entry = text("x") + number(sizes.size(), 4);
  for (const std::uint64_t size : sizes) entry += number(size, 8);
  return entry + number(type, 4) + number(at, 8);
}

// --------------------------------------------------------------------------------------------------

TEST_F(GgufFile, DecodesEveryType) {
  const Gguf file = load_gguf(data("quants.gguf"));
  const StateDict expected = load_safetensors(data("quants.safetensors"));
  EXPECT_EQ(expected.size(), 16u);
  for (const auto& [name, values] : expected) {
    SCOPED_TRACE(name);
    const Tensor& tensor = file.tensors.at(name);
    EXPECT_EQ(tensor.dtype(), dtypes::f32);
    EXPECT_TRUE(near(tensor, values.to_vector<double>(), values.shape(), 1e-6));
  }
}

TEST_F(GgufFile, OtherTypes) {
  const StateDict state = load_state(data("quants.gguf"));
  const std::pair<const char*, DType> every[] = {
      {"float32", dtypes::f32}, {"float16", dtypes::f16}, {"bfloat16", dtypes::bf16},
      {"float64", dtypes::f64}, {"int8", dtypes::i8},     {"int16", dtypes::i16},
      {"int32", dtypes::i32},   {"int64", dtypes::i64}};
  for (const auto& [name, dtype] : every) {
    EXPECT_EQ(state.at(name).dtype(), dtype);
    EXPECT_TRUE(holds<double>(state.at(name), {0, 1, 2, 3, 4, 5}, {2, 3})) << name;
  }
}

// Decoding is no kernel of its own.
TEST_F(GgufFile, DecodesWithinWhatComputes) {
  const StateDict state = load_state(data("quants.gguf"));
  for (const char* name : {"Q4_0", "Q8_0", "Q4_K", "Q6_K"}) {
    const Tensor& weight = state.at(name);
    const Tensor product = Tensor::ones({1, weight.size(1)}).matmul(weight.T());
    EXPECT_EQ(product.schedule().size(), 1u) << name;
  }
}

// A row of several blocks times a vector: what they decode to lies in no memory.
TEST_F(GgufFile, ProductsOfPackedRows) {
  const StateDict state = load_state(data("quants.gguf"));
  for (const auto& [name, values] : load_safetensors(data("quants.safetensors"))) {
    SCOPED_TRACE(name);
    const auto product = [](const Tensor& weight) {
      const Tensor x = (Tensor::arange(weight.numel()).to(weight.device()) * 0.7).sin();
      return (x.cast(weight.dtype()) * weight.flatten()).reshape({1, -1}).sum(1);
    };
    const Tensor packed = product(state.at(name));
    const Tensor exact = values.to("INTERP").cast(dtypes::f64), expected = product(exact);
    const Tensor most = exact.abs().sum();
    EXPECT_EQ(packed.schedule().size(), 1u);
    EXPECT_LT((packed.to("INTERP") - expected).abs().item<double>(), 1e-6 * most.item<double>());
  }
}

constexpr double rounding = 1e-6;  // of all that is added up

// By what is decoded on the reference device; the error relative to the sum of what is added up.
double error_of_product(const Tensor& product, const Tensor& x, const Tensor& values) {
  const auto exact = [](const Tensor& tensor) { return tensor.to("INTERP").cast(dtypes::f64); };
  const Tensor weight = exact(values).T(), most = exact(x).abs().matmul(weight.abs());
  return ((exact(product) - exact(x).matmul(weight)).abs() / most.maximum(1e-30))
      .max()
      .item<double>();
}

Tensor rows_for(const Tensor& weight, std::int64_t rows) {
  const Tensor places = Tensor::arange(rows * weight.size(1), {.dtype = dtypes::f32});
  return (places * 0.7).sin().reshape({rows, -1}).to(weight.device()).contiguous().realize();
}

class GgufOn : public GgufFile, public testing::WithParamInterface<const char*> {
 protected:
  const StateDict state_ = load_state(data("quants.gguf"), GetParam());
};

TEST_P(GgufOn, MultipliesMatrices) {
  for (const auto& [name, values] : load_safetensors(data("quants.safetensors")))
    for (const std::int64_t rows : {1, 3}) {
      SCOPED_TRACE(name + " times " + std::to_string(rows) + " rows");
      const Tensor &weight = state_.at(name), x = rows_for(weight, rows);
      EXPECT_LT(error_of_product(x.matmul(weight.T()), x, values), rounding);
    }
}

struct Blocks {
  const char* name;
  std::uint32_t type;
  std::uint64_t elements, bytes;
  std::vector<std::size_t> halves;  // where scales are
};

// Of any bytes but the scales, which are numbers between 1/8 and 1.
std::string random_blocks(const Blocks& blocks, std::uint64_t count, std::mt19937& random) {
  std::string bytes(count * blocks.bytes, 0);
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (std::uint64_t block = 0; block < count; ++block)
    for (const std::size_t half : blocks.halves) {
      const std::uint64_t value = 0x3000 + random() % 0xC00;
      bytes.replace(block * blocks.bytes + half, 2, number(value, 2));
    }
  return bytes;
}

// So many rows that kernels pack them.
TEST_F(GgufFile, ProductsOfManyRows) {
  const Blocks types[] = {
      {"Q4_0", 2, 32, 18, {0}},       {"Q4_1", 3, 32, 20, {0, 2}},
      {"Q5_0", 6, 32, 22, {0}},       {"Q5_1", 7, 32, 24, {0, 2}},
      {"Q8_0", 8, 32, 34, {0}},       {"Q2_K", 10, 256, 84, {80, 82}},
      {"Q3_K", 11, 256, 110, {108}},  {"Q4_K", 12, 256, 144, {0, 2}},
      {"Q5_K", 13, 256, 176, {0, 2}}, {"Q6_K", 14, 256, 210, {208}},
      {"IQ4_NL", 20, 32, 18, {0}},    {"IQ4_XS", 23, 256, 136, {0}},
      {"TQ1_0", 34, 256, 54, {52}},   {"TQ2_0", 35, 256, 66, {64}},
  };
  constexpr std::uint64_t rows = 64, columns = 512;
  std::mt19937 random(7);
  for (const Blocks& blocks : types) {
    SCOPED_TRACE(blocks.name);
    std::string bytes = start(1, 0) + tensor({columns, rows}, blocks.type, 0);
    bytes.resize((bytes.size() + 31) / 32 * 32);
    bytes += random_blocks(blocks, rows * columns / blocks.elements, random);
    const std::string path = file(std::string(blocks.name) + ".gguf", bytes);
    const Tensor values = load_gguf(path, "INTERP").tensors.at("x").contiguous().realize();
    const Gguf loaded = load_gguf(path);
    const Tensor& weight = loaded.tensors.at("x");
    for (const std::int64_t count : {1, 3}) {
      const Tensor x = rows_for(weight, count);
      EXPECT_LT(error_of_product(x.matmul(weight.T()), x, values), rounding) << count << " rows";
    }
  }
}

// What kernels have packed is that of others still.
TEST_P(GgufOn, AssignsToOneAndToNoOther) {
  const StateDict expected = load_safetensors(data("quants.safetensors"));
  for (const char* name : {"Q4_0", "Q4_K", "Q6_K"}) {
    SCOPED_TRACE(name);
    Tensor weight = state_.at(name);
    const Tensor x = rows_for(weight, 1), values = expected.at(name);
    EXPECT_LT(error_of_product(x.matmul(weight.T()), x, values), rounding);
    weight.assign(weight * 2 + 1).realize();
    EXPECT_LT(error_of_product(x.matmul(weight.T()), x, values * 2 + 1), rounding);
    weight += 1;
    EXPECT_LT(error_of_product(x.matmul(weight.T()), x, values * 2 + 2), rounding);
  }
  const StateDict again = load_state(data("quants.gguf"), GetParam());
  for (const auto& [name, values] : expected)
    EXPECT_TRUE(near(again.at(name), values.to_vector<double>(), values.shape(), 1e-6)) << name;
}

TEST_P(GgufOn, CapturedProductsStayTheSame) {
  const StateDict expected = load_safetensors(data("quants.safetensors"));
  for (const char* name : {"Q4_0", "Q5_1", "Q4_K", "IQ4_XS"}) {
    SCOPED_TRACE(name);
    const Tensor& weight = state_.at(name);
    auto step = jit([&](const Tensor& x) { return x.matmul(weight.T()); });
    for (int call = 0; call < 8; ++call) {
      const Tensor x = (rows_for(weight, 1) + call).realize();
      EXPECT_LT(error_of_product(step(x), x, expected.at(name)), rounding) << call;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, GgufOn, testing::Values("", "INTERP"), [](const auto& info) {
  return std::string(info.param).empty() ? std::string("Default") : std::string(info.param);
});

TEST_F(GgufFile, Metadata) {
  const Object all = load_gguf(data("quants.gguf")).metadata;
  EXPECT_EQ(all.at("general.architecture").as<std::string>(), "test");
  EXPECT_TRUE(all.at("a.bool").as<bool>());
  EXPECT_EQ(all.at("a.u8").as<std::int64_t>(), 200);
  EXPECT_EQ(all.at("a.i8").as<std::int64_t>(), -5);
  EXPECT_EQ(all.at("a.i16").as<std::int64_t>(), -300);
  EXPECT_EQ(all.at("a.u32").as<std::int64_t>(), 4'000'000'000);
  EXPECT_EQ(all.at("a.u64").as<double>(), 0x1p64);
  EXPECT_EQ(all.at("a.i64").as<std::int64_t>(), -(std::int64_t{1} << 40));
  EXPECT_EQ(all.at("a.f32").number(), 0.5);
  EXPECT_EQ(all.at("a.f64").number(), 0.1);
  EXPECT_EQ(all.at("a.text").as<std::string>(), "é");
  EXPECT_EQ(all.at("a.list").at(1).as<std::string>(), "yz");
  EXPECT_EQ(all.at("a.numbers").size(), 3u);
}

TEST_F(GgufFile, FilesThatLie) {
  const auto with_key = [&](const std::string& value) { return start(0, 1) + text("k") + value; };
  std::string nested = number(9, 4);
  for (int i = 0; i < 20; ++i) nested += number(9, 4) + number(1, 8);
  const std::pair<std::string, std::string> cases[] = {
      {"GGML", "it is no GGUF"},
      {"GGUF" + number(1, 4), "it is GGUF of version 1 where 2 and 3 are known"},
      {start(0, 1), "it is cut off, or damaged"},
      {start(0, ~0ULL), "it is cut off, or damaged"},
      {start(0, 1) + number(~0ULL, 8), "it is cut off, or damaged"},
      {with_key(number(13, 4)), "it has a value of unknown type 13"},
      {with_key(number(9, 4) + number(4, 4) + number(1ULL << 60, 8)), "it is cut off, or damaged"},
      {with_key(nested), "its lists are nested too deeply"},
      {start(0, 1) + text("general.alignment") + number(4, 4) + number(3, 4),
       "its alignment is no power of two"},
      {start(1, 0) + tensor({1, 1, 1, 1, 1}, 0, 0), "'x' has 5 axes"},
      {start(1, 0) + tensor({1}, 16, 0), "'x' is of type 16, which is not known"},
      {start(1, 0) + tensor({33}, 2, 0), "'x': Q4_0 of shape (33) is no whole number of blocks"},
      {start(1, 0) + tensor({1ULL << 40, 1ULL << 40}, 0, 0),
       "'x': F32 of shape (1099511627776, 1099511627776) is no whole number of blocks"},
      {start(1, 0) + tensor({1ULL << 62}, 0, 0), "'x' is larger than any memory"},
      {start(1, 0) + tensor({4}, 0, 0), "'x' lies outside of it"},
      {start(1, 0) + tensor({4}, 0, ~0ULL), "'x' lies outside of it"},
      {start(2, 0) + tensor({4}, 0, 0) + tensor({4}, 0, 0) + std::string(24, '\0'),
       "its tensors overlap"},
      {start(2, 0) + tensor({0}, 0, 0) + tensor({0}, 0, 0), "two tensors are named 'x'"},
  };
  for (const auto& [bytes, message] : cases) {
    const std::string path = file("lie.gguf", bytes);
    EXPECT_EQ(error_of([&] { return load_gguf(path); }),
              fmt::format("load_gguf: '{}': {}", path, message));
  }
}

}  // namespace
}  // namespace weft
