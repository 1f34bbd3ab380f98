// Gradients as kernels on the reference device, against computing every tensor for itself.

#include <gtest/gtest.h>

#include <weft/dev/engine/realize.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/grad/gradient.h>
#include <weft/dev/ir/movement.h>

#include "../support/arrays.h"

namespace weft {
namespace {

UOp buffer(const std::vector<std::int64_t>& sizes, DType dtype, const std::vector<double>& values,
           Eager& eager) {
  const UOp result = new_buffer(dtype, constant_sizes(sizes), find_device("INTERP"));
  Array array{sizes, {}};
  for (double value : values) array.values.push_back(bits_from_double(value, dtype));
  eager.set(result, array);
  std::vector<std::byte> bytes = stored(array, dtype);
  bytes.pop_back();
  memory_of(result.node())->copy_in(bytes);
  return result;
}

void expect_as_eager(const std::vector<UOp>& gradients, Eager& eager) {
  std::vector<Wanted> wanted;
  for (const UOp& gradient : gradients)
    wanted.push_back({make(Op::Contiguous, {gradient}), Symbol("INTERP")});
  const std::vector<UOp> results = realize(wanted);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Array& expected = eager(gradients[i].node());
    const auto memory = memory_of(results[i].node());
    std::vector<std::byte> bytes(memory->bytes());
    memory->copy_out(bytes);
    EXPECT_EQ(loaded(bytes, expected.values.size(), gradients[i]->dtype()), expected.values) << i;
  }
}

TEST(RealizedGradient, OfAMatrixProduct) {
  Eager eager;
  const UOp a = buffer({2, 3}, dtypes::f32, {1, 2, 3, 4, 5, 6}, eager);
  const UOp b = buffer({3, 2}, dtypes::f32, {1, -1, 2, -2, 3, -3}, eager);
  const UOp rows = expand(reshape(a, constant_sizes({2, 3, 1})), constant_sizes({2, 3, 2}));
  const UOp columns = expand(reshape(b, constant_sizes({1, 3, 2})), constant_sizes({2, 3, 2}));
  const UOp product = reduce(Op::Add, rows * columns, {1});
  expect_as_eager(gradient(product * product, {a, b}), eager);
}

// Two tables of one shape: what one gather adds up must not land in the other's memory.
TEST(RealizedGradient, OfGathers) {
  Eager eager;
  const UOp first = buffer({3}, dtypes::f32, {1, 2, 3}, eager);
  const UOp second = buffer({3}, dtypes::f32, {4, 5, 6}, eager);
  const UOp at = buffer({4}, dtypes::i32, {2, 0, 2, 2}, eager);
  const auto gather = [&](const UOp& table) {
    return make(Op::Load, {make(Op::Index, {table, const_bool(true), at})});
  };
  const UOp loss = gather(first) * gather(second);
  const std::vector<UOp> both = gradient(loss, {first, second});
  expect_as_eager(both, eager);
}

TEST(RealizedGradient, OfAProductWithAZero) {
  Eager eager;
  const UOp x = buffer({5}, dtypes::f32, {2, 0, 5, 7, 11}, eager);
  expect_as_eager(gradient(reduce(Op::Mul, x, {0}), {x}), eager);
}

}  // namespace
}  // namespace weft
