// Hashes of all bytes. Those of rows, by name, are golden cases.

#include "tensor_test.h"

namespace weft {
namespace {

std::string hex(const Tensor& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes.to_vector<std::uint8_t>())
    text += fmt::format("{:02x}", byte);
  return text;
}

Tensor text(std::string_view characters) {
  return Tensor(std::vector<std::uint8_t>(characters.begin(), characters.end()));
}

// By hashlib: shake_128 of each 4096 bytes of a MiB, and of these 256 together.
TEST(TensorHash, IsOfAllBytes) {
  EXPECT_EQ(hex(text("Hello World!").hash()), "e02b050b7b6e9bb60f9c033633502ee3");
  const Tensor floats({1.0f, -2.0f, 0.5f, 3.0f, 1e10f});
  EXPECT_EQ(hex(floats.flip(0).contiguous().flip(0).reshape({5, 1}).hash()),
            "bbd41283abd1b659a1f146a761f6aa10");
}

TEST(TensorHash, BeyondAMebibyteIsThatOfHashes) {
  std::vector<std::uint8_t> bytes((1 << 20) + 3);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i % 251);
  EXPECT_EQ(hex(Tensor(bytes).hash()), "5541d3b8d5ac4cc7c017201ca35dcf76");
}

TEST(TensorHash, EqualBytesOfOtherDtypesHashAlike) {
  const Tensor words({0x01020304, -1}, {.dtype = dtypes::i32});
  const Tensor bytes({4, 3, 2, 1, 255, 255, 255, 255}, {.dtype = dtypes::u8});
  EXPECT_EQ(hex(words.keccak()), hex(bytes.keccak()));
  EXPECT_EQ(hex(Tensor({true, false, true}).keccak("sha3_224")),
            hex(Tensor({1, 0, 1}, {.dtype = dtypes::u8}).keccak("sha3_224")));
}

// One for the words of all blocks, 25 for each block, one for the bytes.
TEST(TensorHash, ARoundIsAKernel) {
  const Tensor rows = Tensor::zeros({3, 300}, {.dtype = dtypes::u8}).contiguous().realize();
  EXPECT_EQ(rows.slice(1, {.stop = 100}).keccak().schedule().size(), 27U);
  EXPECT_EQ(rows.keccak().schedule().size(), 77U);
  EXPECT_EQ(rows.reshape({9, 100}).keccak().schedule().size(), 27U);
}

}  // namespace
}  // namespace weft
