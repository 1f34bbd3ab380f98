// Indexing where golden cases do not reach: memory that is shared, versions of it, duplicates, sizes
// that are symbolic.

#include "tensor_test.h"

namespace weft {
namespace {

Tensor counting(const Shape& shape, std::int64_t count) {
  return Tensor::arange(count).reshape(shape);
}

TEST(TensorIndexing, IndicesReadAsTheyAreWritten) {
  const Tensor x = counting({3, 4}, 12);
  EXPECT_TRUE(holds<int>((x[{{2, 0}}]), {8, 9, 10, 11, 0, 1, 2, 3}, {2, 4}));
  EXPECT_TRUE(holds<int>((x[{Slice{}, {-1}}]), {3, 7, 11}, {3, 1}));
  EXPECT_TRUE(holds<int>(x[x == 7], {7}, {1}));
  EXPECT_TRUE(holds<int>((x[{Dim(2), Slice{1, 3}}]), {9, 10}, {2}));
  EXPECT_TRUE(holds<int>(x[std::vector<std::int64_t>{1}], {4, 5, 6, 7}, {1, 4}));
}

TEST(TensorIndexing, OutsideIsZeroAndWritesNothing) {
  const Context unchecked{{"CHECK", 0}};
  const Tensor x({5, 6, 7}), index({0, 3, -4, -1});
  EXPECT_TRUE(holds<int>(x[index], {5, 0, 0, 7}, {4}));
  EXPECT_TRUE(holds<int>(x.index_put({index}, Tensor({1, 2, 3, 4})), {1, 6, 4}, {3}));
  EXPECT_TRUE(holds<int>(x.gather(0, index), {5, 0, 0, 7}, {4}));
  EXPECT_TRUE(holds<int>(x.scatter(0, index, 9), {9, 6, 9}, {3}));
}

TEST(TensorIndexing, TheLastOfSeveralStays) {
  const Tensor x = Tensor::zeros({3}, {.dtype = dtypes::i32});
  EXPECT_TRUE(
      holds<int>(x.index_put({Tensor{{1, 0, 1}, {2, 1, 2}}}, counting({2, 3}, 6)), {1, 4, 5}, {3}));
  const Tensor many = counting({1000}, 1000) % 3;
  EXPECT_TRUE(holds<int>(x.scatter(0, many, counting({1000}, 1000)), {999, 997, 998}, {3}));
}

TEST(TensorIndexing, SetsMemoryInPlace) {
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  Tensor x = Tensor::from_blob(memory.data(), {3, 2});
  const Tensor before = x * 10, row = x[1];
  x.set({Tensor({2, 0})}, Tensor({7.0, 8.0})).realize();
  EXPECT_EQ(memory, (std::vector<float>{7, 8, 3, 4, 7, 8}));
  x.set({1, Tensor({1})}, 0).set({Slice{}, 0}, -1).realize();
  EXPECT_EQ(memory, (std::vector<float>{-1, 8, -1, 0, -1, 8}));
  EXPECT_TRUE(holds<float>(row, {-1, 0}, {2}));
  EXPECT_TRUE(holds<float>(before, {10, 20, 30, 40, 50, 60}, {3, 2}));
}

TEST(TensorIndexing, SetsPartsOfMemory) {
  Tensor x = counting({3, 4}, 12).contiguous();
  x[{Slice{1}, Slice{.step = 2}}].set({Tensor({0, -1}), Tensor({1, 0})}, Tensor({-5, -7}));
  EXPECT_TRUE(holds<int>(x, {0, 1, 2, 3, 4, 5, -5, 7, -7, 9, 10, 11}, {3, 4}));
  x.T().set({x.T() == 1}, 100);
  EXPECT_EQ((x[{0, 1}].item<int>()), 100);
}

// Each place is read before it is written: 0 -> 1 -> 2 is no chain.
TEST(TensorIndexing, ReadsWhatWasThereBefore) {
  Tensor x({1, 2, 0});
  x.set({x}, x);
  EXPECT_TRUE(holds<int>(x, {0, 1, 2}, {3}));
  x.set({Tensor({1, 2})}, x[Tensor({0, 1})]);
  EXPECT_TRUE(holds<int>(x, {0, 0, 1}, {3}));
  x.set({Tensor({2, 2})}, x[Tensor({2, 2})] + 1);
  EXPECT_TRUE(holds<int>(x, {0, 0, 2}, {3}));
}

// A copy is nobody else's memory, also where the value is wanted for itself or says what goes where.
TEST(TensorIndexing, CopiesWhatIsComputed) {
  const Tensor x({0, 1, 2}), y = x * 2 + 1;
  const Tensor z = y.scatter(0, Tensor({1}), 50), w = z + y;
  Tensor::realize({y, z, w});
  EXPECT_TRUE(holds<int>(y, {1, 3, 5}, {3}));
  EXPECT_TRUE(holds<int>(z, {1, 50, 5}, {3}));
  EXPECT_TRUE(holds<int>(w, {2, 53, 10}, {3}));
  const Tensor places = (x + 1) % 3;
  EXPECT_TRUE(holds<int>(places.scatter(0, places, places * 10), {0, 10, 20}, {3}));
  const Tensor twice = z.scatter(0, Tensor({0}), 60);
  Tensor::realize({twice, z.scatter(0, Tensor({0}), 70)});
  EXPECT_TRUE(holds<int>(z, {1, 50, 5}, {3}));
  EXPECT_TRUE(holds<int>(twice, {60, 50, 5}, {3}));
}

TEST(TensorIndexing, HalfFloatsAddUpAtOnePlace) {
  const Tensor zeros = Tensor::zeros({5}, {.dtype = dtypes::i32});
  for (const DType dtype : {dtypes::f16, dtypes::bf16}) {
    const Tensor x = Tensor::zeros({2}, {.dtype = dtype});
    EXPECT_TRUE(holds<float>(x.scatter_add(0, zeros, 1), {5, 0}, {2}));
    EXPECT_TRUE(
        holds<float>(x.scatter_add(0, counting({5}, 5) % 2, counting({5}, 5)), {6, 4}, {2}));
    EXPECT_TRUE(holds<float>(x.scatter_add(0, Tensor({1}), 7), {0, 7}, {2}));  // without a loop
  }
}

TEST(TensorIndexing, SymbolicNumbersAndBounds) {
  const UOp n = Variable("n", 0, 3);
  const Tensor x = counting({4, 2}, 8);
  const auto bound = [&](std::int64_t value) { return make(Op::Bind, {n, const_int(value)}); };
  EXPECT_TRUE(holds<int>(x[bound(2)], {4, 5}, {2}));
  EXPECT_TRUE(holds<int>((x[{bound(1), Tensor({1, 0})}]), {3, 2}, {2}));
  EXPECT_EQ((x[Slice{bound(1), {}}].sum().item<int>()), 27);
  EXPECT_EQ((x[{Slice{0, bound(3)}, 1}].sum().item<int>()), 9);
  Tensor y = x.contiguous();
  y.set({bound(3), Tensor({0})}, -1);
  EXPECT_EQ((y[{3, 0}].item<int>()), -1);
}

TEST(TensorIndexing, GradientsOfAssignments) {
  const Tensor v({2.0, 3.0}, {.requires_grad = true}), w({1.0, 1.0, 1.0}, {.requires_grad = true});
  Tensor x = w * 4;
  x.set({Tensor({2, 0})}, v * v);
  (x * Tensor({1.0, 10.0, 100.0})).sum().backward();
  EXPECT_TRUE(holds<float>(x, {9, 4, 4}, {3}));
  EXPECT_TRUE(holds<float>(v.grad(), {400, 6}, {2}));
  EXPECT_TRUE(holds<float>(w.grad(), {0, 40, 0}, {3}));
}

TEST(TensorIndexing, NoMoreIsComputedThanWasAskedFor) {
  const Tensor x({0, 3, 0, 5});
  EXPECT_TRUE(holds<int>(x.nonzero(1), {1}, {1, 1}));
  EXPECT_TRUE(holds<int>(x.nonzero(3, -7), {1, 3, -7}, {3, 1}));
  EXPECT_TRUE(holds<int>(x.masked_select(x > 0, 3, 9), {3, 5, 9}, {3}));
}

}  // namespace
}  // namespace weft
