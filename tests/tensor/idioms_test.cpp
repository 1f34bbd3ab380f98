// What users of numpy and PyTorch write without looking it up.

#include <sstream>

#include "tensor_test.h"

namespace weft {
namespace {

std::string printed(const auto& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(Idioms, Rows) {
  const Tensor x = Tensor::arange(6).reshape({3, 2});
  std::string text;
  for (const Tensor row : x) text += row.str();
  EXPECT_EQ(text, "[0 1][2 3][4 5]");
  text.clear();
  for (const Tensor& row : x * 2) text += row.str();
  EXPECT_EQ(text, "[0 2][4 6][ 8 10]");
  const auto rows_of_a_scalar = [] {
    for (const Tensor row : Tensor(1)) row.str();
  };
  EXPECT_EQ(error_of(rows_of_a_scalar), "len: a tensor of shape () has no first axis");
}

TEST(Idioms, ShapesPrint) {
  EXPECT_EQ(printed(Tensor::ones({2, 3}).shape()), "(2, 3)");
  EXPECT_EQ(printed(Tensor::ones({2}).size()), "(2,)");
  EXPECT_EQ(printed(Tensor(1).shape()), "()");
}

TEST(Idioms, ItemsOfNoType) {
  EXPECT_EQ(Tensor(2.5f).item(), 2.5);
  EXPECT_EQ(Tensor({7}).item(), 7);
  EXPECT_EQ(Tensor(true).item(), 1);
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(Tensor(large - 1).item(), 9007199254740992.0);
  EXPECT_EQ(error_of([&] { Tensor(large * 2 + 1).item(); }),
            "item: an integer beyond 2^53, which a double may not hold: item<std::int64_t>()");
}

TEST(Idioms, IntegersAddUpIn64Bits) {
  const Tensor x({2147483647, 1});
  EXPECT_EQ(x.sum().item<std::int64_t>(), 2147483648);
  EXPECT_TRUE(holds<std::int64_t>(x.cumsum(), {2147483647, 2147483648}, {2}));
  EXPECT_EQ((x * 2).prod().dtype(), dtypes::i64);
  EXPECT_TRUE(holds<std::int64_t>(Tensor({65536, 65536}).cumprod(0), {65536, 4294967296}, {2}));
  EXPECT_EQ(x.sum({.dtype = dtypes::i32}).item<int>(), INT32_MIN);
  EXPECT_TRUE(holds<int>(x.cumsum(0, dtypes::i32), {2147483647, INT32_MIN}, {2}));
  for (const DType dtype : {dtypes::bool_, dtypes::i8, dtypes::u8, dtypes::i32, dtypes::u32})
    EXPECT_EQ(x.cast(dtype).sum().dtype(), dtypes::i64);
  EXPECT_EQ(x.cast(dtypes::u64).sum().dtype(), dtypes::u64);
  EXPECT_EQ(x.cast(dtypes::f16).sum().dtype(), dtypes::f16);
}

TEST(Idioms, NumbersOf64BitsAreI64) {
  EXPECT_EQ(Tensor({std::int64_t{3}, std::int64_t{4}}).dtype(), dtypes::i64);
  EXPECT_EQ(Tensor({3, 4}).dtype(), dtypes::i32);
  EXPECT_EQ(Tensor(std::int64_t{3}).dtype(), dtypes::i64);
  EXPECT_EQ(Tensor({std::int64_t{3}}, {.dtype = dtypes::u8}).dtype(), dtypes::u8);
  EXPECT_EQ((Tensor({1, 2}) + std::int64_t{3}).dtype(), dtypes::i32);
}

TEST(Idioms, ConditionsOfNumbers) {
  EXPECT_TRUE(holds<float>(Tensor({0, 2, -1}).where(1.f, 5.f), {5, 1, 1}, {3}));
  EXPECT_TRUE(holds<float>(Tensor({0.f, 0.5f}).where(1.f, 5.f), {5, 1}, {2}));
}

TEST(Idioms, SizesAreBound) {
  const Tensor x = Tensor::arange(10).clone();
  const UOp n = Variable("n", 1, 10);
  for (const int size : {3, 7}) {
    const Tensor part = x[Slice{0, n.bind(size)}];
    EXPECT_EQ(part.sum().item<int>(), size * (size - 1) / 2);
  }
  EXPECT_EQ(error_of([&] { n.bind(11); }), "bind: variable n is from 1 to 10, not 11");
  EXPECT_EQ(error_of([&] { const_int(1).bind(1); }), "bind: this is no Variable");
}

TEST(Idioms, FieldsOfAStructInAFunction) {
  struct Net {
    Tensor weight = Tensor::ones({2});
    std::vector<Tensor> more{Tensor::zeros({1})};
    WEFT_FIELDS(weight, more);
  };
  const Net net;
  std::string names;
  for (const auto& [name, tensor] : get_tensors(net)) names += name + " ";
  EXPECT_EQ(names, "weight more.0 ");
}

TEST(Idioms, DevicesInSmallLetters) {
  EXPECT_EQ(Tensor::ones({1}).to("cpu").device(), "CPU");
  EXPECT_EQ(Tensor::ones({1}, {.device = "cpu:1"}).device(), "CPU:1");
}

}  // namespace
}  // namespace weft
