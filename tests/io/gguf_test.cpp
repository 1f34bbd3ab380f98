// What the package gguf wrote, and how it decodes it (data/make_gguf.py).

#include <weft/state.h>

#include "files.h"

namespace weft {
namespace {

using GgufFile = InFolder;

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
  const auto number = [](std::uint64_t value, std::size_t width) {
    return std::string(reinterpret_cast<const char*>(&value), width);
  };
  const auto start = [&](std::uint64_t tensors, std::uint64_t keys) {
    return "GGUF" + number(3, 4) + number(tensors, 8) + number(keys, 8);
  };
  const auto text = [&](const std::string& value) { return number(value.size(), 8) + value; };
  const auto tensor = [&](std::vector<std::uint64_t> sizes, std::uint32_t type, std::uint64_t at) {
    std::string entry = text("x") + number(sizes.size(), 4);
    for (const std::uint64_t size : sizes) entry += number(size, 8);
    return entry + number(type, 4) + number(at, 8);
  };
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
