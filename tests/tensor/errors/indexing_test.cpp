// Wrong calls of what reads and writes by indices.

#include "table.h"

namespace weft {
namespace {

TEST(TensorErrors, Indexing) {
  const Tensor x = of({2, 3, 4}), flat = of({4});
  const Tensor index({0, 1}), mask({true, false});
  const UOp n = Variable("n", 0, 2);
  const WrongCall calls[] = {
      {"[], number", [&] { x[{0, -4}]; }, "[]: index -4 is outside axis 1 of shape (2, 3, 4)"},
      {"[], number among tensors", [&] { x[{index, 3}]; },
       "[]: index 3 is outside axis 1 of shape (2, 3, 4)"},
      {"[], list", [&] { x[{Slice{}, {0, 3}}]; },
       "[]: index 3 is outside axis 1 of shape (2, 3, 4)"},
      {"[], too many", [&] { x[{0, 0, 0, index}]; },
       "[]: 4 indices for a tensor of shape (2, 3, 4)"},
      {"[], a mask counts", [&] { x[{0, 0, of({4, 1}, {.dtype = dtypes::bool_})}]; },
       "[]: 4 indices for a tensor of shape (2, 3, 4)"},
      {"[], ellipses", [&] { x[{ellipsis, index, ellipsis}]; }, "[]: more than one ellipsis"},
      {"[], floats", [&] { x[values({0.5})]; }, "[]: the index is f32, not an integer"},
      {"[], null", [&] { x[Tensor()]; }, "[]" + is_null},
      {"[], apart", [&] { x[{index, values({0, 1, 2})}]; },
       "[]: shapes (2,) and (3,) do not broadcast: 2 does not match 3"},
      {"[], mask", [&] { x[{Slice{}, mask}]; },
       "[]: a mask of shape (2,) for axis 1 of shape (2, 3, 4)"},
      {"[], symbolic step", [&] { x[Slice{Dim(n), {}, 2}]; },
       "[]: a step of 2 needs bounds and a size that are numbers"},
      {"set, shape", [&] { Tensor(flat).set({index}, values({1.0, 2.0, 3.0})); },
       "set: shape (3,) does not fit places of shape (2,)"},
      {"set, axes", [&] { Tensor(flat).set({index}, of({1, 2})); },
       "set: shape (1, 2) does not fit places of shape (2,)"},
      {"set, view", [&] { Tensor(flat).set({Slice{0, 2}}, values({1.0, 2.0, 3.0})); },
       "set: shapes (2,) and (3,) do not broadcast: 2 does not match 3"},
      {"set, device", [&] { Tensor(flat).set({index}, values({1, 2}, {.device = "NULL"})); },
       "set: one tensor is on CPU, another on NULL: move one with to()"},
      {"index_put", [&] { x.index_put({0, index}, of({3, 4})); },
       "index_put: shape (3, 4) does not fit places of shape (2, 4)"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, AlongAnAxis) {
  const Tensor x = of({3, 4}), index = of({2, 2}, {.dtype = dtypes::i64});
  const Tensor one({0, 2}), wide = of({2, 5}, {.dtype = dtypes::i64});
  using enum Tensor::Reduce;
  const WrongCall calls[] = {
      {"take", [&] { x.take(x); }, "take: the index is f32, not an integer"},
      {"take, axis", [&] { x.take(one, 2); }, "take: there is no axis 2 in a tensor of 2 axes"},
      {"gather", [&] { x.gather(0, wide); },
       "gather: the index of shape (2, 5) is larger than (3, 4) elsewhere than on axis 0"},
      {"gather, axes", [&] { x.gather(0, one); },
       "gather: the index of shape (2,) is larger than (3, 4) elsewhere than on axis 0"},
      {"scatter", [&] { x.scatter(0, wide, 1); },
       "scatter: the index of shape (2, 5) is larger than (3, 4) elsewhere than on axis 0"},
      {"scatter, source", [&] { x.scatter(0, index, of({1, 2})); },
       "scatter: a source of shape (1, 2) is smaller than the index of shape (2, 2)"},
      {"scatter, factors", [&] { x.scatter(0, index, of({2}), Tensor::Scatter::Multiply); },
       "scatter: a source of shape (2,) is smaller than the index of shape (2, 2)"},
      {"scatter, dtype", [&] { x.scatter(0, x, 1); }, "scatter: the index is f32, not an integer"},
      {"scatter_reduce", [&] { x.scatter_reduce(0, index, of({2, 1}), Amax); },
       "scatter_reduce: a source of shape (2, 1) is smaller than the index of shape (2, 2)"},
      {"scatter_reduce, axis", [&] { x.scatter_reduce(-3, index, x, Sum); },
       "scatter_reduce: there is no axis -3 in a tensor of 2 axes"},
      {"index_select", [&] { x.index_select(0, index); },
       "index_select: an index of shape (2, 2) has more than one axis"},
      {"index_add", [&] { x.index_add(0, one, of({3, 4})); },
       "index_add: a source of shape (3, 4) for 2 slices along axis 0 of shape (3, 4)"},
      {"index_copy", [&] { x.index_copy(1, one, of({2, 3})); },
       "index_copy: a source of shape (2, 3) for 2 slices along axis 1 of shape (3, 4)"},
      {"index_fill", [&] { x.index_fill(1, one, of({2})); },
       "index_fill: a value of shape (2,) is no number"},
      {"take_along_axis", [&] { x.take_along_axis(one, 0); },
       "take_along_axis: an index of shape (2,) has not the axes of (3, 4)"},
      {"put_along_axis", [&] { x.put_along_axis(index, 1, 0); },
       "put_along_axis: shape (2, 2) does not fit places of shape (2, 4)"},
      {"put", [&] { x.put(x, 1); }, "put: the index is f32, not an integer"},
      {"one_hot", [&] { one.one_hot(-2); },
       "one_hot: -2 classes: want at least 0, or -1 for as many as there are"},
      {"one_hot, of none", [&] { of({0}, {.dtype = dtypes::i32}).one_hot(); },
       "one_hot: of no numbers, how many classes there are is to be said"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, Selecting) {
  const Tensor x = of({3, 4}), numbers({0, 2}), mask = x == 0;
  const WrongCall calls[] = {
      {"masked_fill", [&] { x.masked_fill(x, 1); }, "masked_fill: the mask is f32, not bool"},
      {"masked_fill, value", [&] { x.masked_fill(mask, x); },
       "masked_fill: a value of shape (3, 4) is no number"},
      {"masked_select", [&] { x.masked_select(numbers); },
       "masked_select: the mask is i32, not bool"},
      {"masked_select, shape", [&] { x.masked_select(numbers == 0); },
       "masked_select: shapes (3, 4) and (2,) do not broadcast: 4 does not match 2"},
      {"masked_select, size", [&] { x.masked_select(mask, -1); },
       "masked_select: a size of -1: want at least 0"},
      {"masked_scatter", [&] { x.masked_scatter(x, x); },
       "masked_scatter: the mask is f32, not bool"},
      {"nonzero", [&] { x.nonzero(-2); }, "nonzero: a size of -2: want at least 0"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
