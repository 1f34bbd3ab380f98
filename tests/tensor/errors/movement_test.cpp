// Wrong calls of movement, of patterns and of products by their labels.

#include <limits>

#include "table.h"

namespace weft {
namespace {

TEST(TensorErrors, Movement) {
  const Tensor x = of({2, 3}), cube = of({2, 3, 4}), one(1.0);
  constexpr std::int64_t large = std::int64_t{1} << 32, largest = std::int64_t{1} << 62;
  const WrongCall calls[] = {
      {"flatten", [&] { x.flatten(1, 0); }, "flatten: axis 1 comes after axis 0"},
      {"unflatten", [&] { x.unflatten(1, {2, -1}); },
       "unflatten: axis 1 of size 3 is no multiple of 2"},
      {"unflatten", [&] { of({12}).unflatten(0, {-1, -1, 3}); },
       "unflatten: -1 stands for one size alone"},
      {"unflatten", [] { of({0, 6}).unflatten(1, {4, 5}); },
       "unflatten: an axis of 6 is not one of 20"},
      {"unflatten, overflow", [&] { x.unflatten(0, {large, large, 2}); },
       "unflatten: more than 2^63 elements"},
      {"unflatten, overflow", [&] { x.unflatten(0, {large, large, -1}); },
       "unflatten: more than 2^63 elements"},
      {"flatten, overflow", [&] { Tensor::zeros({large, large}).flatten(); },
       "flatten: more than 2^63 elements"},
      {"repeat, overflow", [&] { x.repeat({1, largest}); }, "repeat: more than 2^63 elements"},
      {"squeeze", [&] { x.squeeze({0, 2}); }, "squeeze: there is no axis 2 in a tensor of 2 axes"},
      {"swapaxes", [&] { x.swapaxes(0, 2); }, "swapaxes: there is no axis 2 in a tensor of 2 axes"},
      {"movedim", [&] { cube.movedim({0, 1}, {0}); },
       "movedim: 2 axes to 1 places: want as many of each"},
      {"movedim, twice", [&] { cube.movedim({0, 1}, {2, -1}); }, "movedim: axis -1 is given twice"},
      {"mT", [&] { values({1}).mT(); }, "mT: shape (1,) has no two axes"},
      {"expand", [&] { x.expand({3}); }, "expand: 1 sizes for a tensor of shape (2, 3)"},
      {"broadcast_tensors", [&] { Tensor::broadcast_tensors({x, cube}); },
       "broadcast_tensors: shapes (2, 3) and (2, 3, 4) do not broadcast: 2 does not match 3"},
      {"flip", [&] { x.flip({1, -1}); }, "flip: axis -1 is given twice"},
      {"fliplr", [&] { values({1}).fliplr(); }, "fliplr: shape (1,) has no axis 1"},
      {"flipud", [&] { one.flipud(); }, "flipud: shape () has no axis 0"},
      {"rot90", [&] { x.rot90(1, {0}); }, "rot90: 1 axes of shape (2, 3): expected two"},
      {"shrink, beyond", [&] { x.shrink({{0, 2}, {1, 4}}); },
       "shrink: from 1 to 4 is no part of axis 1 of shape (2, 3)"},
      {"shrink_to", [&] { x.shrink_to({2, 4}); },
       "shrink_to: axis 1 of shape (2, 3) has not 4 elements"},
      {"shrink_to, axes", [&] { x.shrink_to({2}); },
       "shrink_to: 1 sizes for a tensor of shape (2, 3)"},
      {"pad", [&] { x.pad({{0, 1}}); }, "pad: bounds for 1 axes of a tensor of shape (2, 3)"},
      {"pad, nothing left", [&] { x.pad({-2, -2}); },
       "pad: from 2 to 1 is no part of axis 1 of shape (2, 3)"},
      {"pad, flat", [&] { x.pad({1, 2, 3}); },
       "pad: 3 widths for shape (2, 3): expected two for each of the last axes"},
      {"pad, reflect", [&] { x.pad({3, 0}, PadMode::Reflect); },
       "pad: axis 1 of shape (2, 3) is too short for reflect padding of 3 and 0"},
      {"pad, replicate", [&] { of({0}).pad({0, 1}, PadMode::Replicate); },
       "pad: axis 0 of shape (0,) is too short for replicate padding of 0 and 1"},
      {"pad, circular", [&] { of({0}).pad({2, 1}, PadMode::Circular); },
       "pad: axis 0 of shape (0,) is too short for circular padding of 2 and 1"},
      {"pad_to", [&] { x.pad_to({1, 3}); }, "pad_to: axis 0 of shape (2, 3) is longer than 1"},
      {"pad_to, axes", [&] { x.pad_to({4, 4, 4}); },
       "pad_to: 3 sizes for a tensor of shape (2, 3)"},
      {"diagonal", [&] { values({1}).diagonal(); }, "diagonal: shape (1,) has no two axes"},
      {"diagonal, twice", [&] { cube.diagonal(0, 1, -2); }, "diagonal: axis -2 is given twice"},
      {"diag", [&] { cube.diag(); }, "diag: shape (2, 3, 4) is that of no vector and no matrix"},
      {"diag_embed", [&] { x.diag_embed(0, 0, 3); },
       "diag_embed: there is no axis 3 in a tensor of 3 axes"},
      {"tril_indices", [] { Tensor::tril_indices(-1, 2); },
       "tril_indices: -1 rows and 2 columns: want at least 0"},
      {"vander", [&] { x.vander(); }, "vander: shape (2, 3) is not that of a vector"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, PartsAndRepetition) {
  const Tensor x = of({2, 3}), cube = of({2, 3, 4}), one(1.0);
  const WrongCall calls[] = {
      {"narrow", [&] { x.narrow(1, 2, 2); },
       "narrow: 2 elements from 2 on are no part of axis 1 of shape (2, 3)"},
      {"narrow, beyond all numbers",
       [&] { x.narrow(0, std::numeric_limits<std::int64_t>::max(), 1); },
       "narrow: 1 elements from 9223372036854775807 on are no part of axis 0 of shape (2, 3)"},
      {"select", [&] { x.select(0, -3); }, "select: index -3 is outside axis 0 of shape (2, 3)"},
      {"unbind", [&] { one.unbind(); }, "unbind: there is no axis 0 in a tensor of 0 axes"},
      {"split", [&] { x.split({4, -1}, 1); },
       "split: the sizes (4, -1) are not all of axis 1 of shape (2, 3)"},
      {"split, by 0", [&] { x.split(0); }, "split: into parts of 0: want at least 1"},
      {"chunk", [&] { x.chunk(0); }, "chunk: into 0 parts: want at least 1"},
      {"tensor_split", [&] { x.tensor_split(0); }, "tensor_split: into 0 parts: want at least 1"},
      {"hsplit", [&] { x.hsplit(2); }, "hsplit: axis 1 of shape (2, 3) has no 2 even parts"},
      {"vsplit", [&] { x[0].vsplit(1); }, "vsplit: shape (3,) has fewer than 2 axes"},
      {"dsplit", [&] { x.dsplit(1); }, "dsplit: shape (2, 3) has fewer than 3 axes"},
      {"cat", [] { Tensor::cat({}); }, "cat: no tensors: want at least one"},
      {"cat", [&] { Tensor::cat({x, of({2, 3}, {.device = "NULL"})}); },
       "cat: one tensor is on CPU, another on NULL: move one with to()"},
      {"stack", [&] { Tensor::stack({x, x.T()}); }, "stack: shapes (2, 3) and (3, 2) differ"},
      {"hstack", [&] { Tensor::hstack({x, x.T()}); },
       "hstack: shapes (2, 3) and (3, 2) differ elsewhere than on axis 1"},
      {"vstack", [] { Tensor::vstack({}); }, "vstack: no tensors: want at least one"},
      {"column_stack", [&] { Tensor::column_stack({x, one}); },
       "column_stack: shapes (2, 3) and (1, 1) differ elsewhere than on axis 1"},
      {"block_diag", [&] { Tensor::block_diag({x, cube}); },
       "block_diag: shape (2, 3, 4) has more than two axes"},
      {"repeat", [&] { x.repeat({2}); }, "repeat: 1 numbers for a tensor of shape (2, 3)"},
      {"repeat, negative", [&] { x.repeat({1, -2}); }, "repeat: -2 times: want at least 0"},
      {"repeat_interleave", [&] { x.repeat_interleave(-1); },
       "repeat_interleave: -1 times: want at least 0"},
      {"repeat_interleave, numbers", [&] { x.repeat_interleave(values({1, 2}), 1); },
       "repeat_interleave: numbers of shape (2,) for axis 1 of shape (2, 3)"},
      {"repeat_interleave, dtype", [&] { x.repeat_interleave(values({1.0, 2.0}), 0); },
       "repeat_interleave: the index is f32, not an integer"},
      {"roll", [&] { x.roll({1, 2}, {0}); }, "roll: 2 shifts for 1 axes: want as many of each"},
      {"unfold", [&] { x.unfold(1, 4, 1); },
       "unfold: windows of 4, 1 apart, along axis 1 of shape (2, 3)"},
      {"unfold, step", [&] { x.unfold(1, 2, 0); },
       "unfold: windows of 2, 0 apart, along axis 1 of shape (2, 3)"},
      {"meshgrid", [&] { Tensor::meshgrid({x}); },
       "meshgrid: shape (2, 3) is not that of a vector"},
      {"cartesian_prod", [&] { Tensor::cartesian_prod({one}); },
       "cartesian_prod: shape () is not that of a vector"},
      {"combinations", [&] { x.combinations(); },
       "combinations: shape (2, 3) is not that of a vector"},
      {"combinations, of fewer", [&] { x[0].combinations(-1); },
       "combinations: of -1 elements: want at least 0"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, Patterns) {
  const Tensor x = of({2, 6});
  const auto rearranged = [&](std::string_view formula, const Tensor::AxisSizes& sizes = {}) {
    return [x, formula, sizes] { x.rearrange(formula, sizes); };
  };
  const WrongCall calls[] = {
      {"rearrange, no arrow", rearranged("a b"), "rearrange: \"a b\": there is no ->"},
      {"rearrange, axes", rearranged("a -> a"), "rearrange: \"a -> a\": 1 axes for shape (2, 6)"},
      {"rearrange, axes beside an ellipsis", rearranged("a b c ... -> ..."),
       "rearrange: \"a b c ... -> ...\": 3 axes for shape (2, 6)"},
      {"rearrange, left only", rearranged("a b -> a"),
       "rearrange: \"a b -> a\": b is on the left only"},
      {"rearrange, right only", rearranged("a b -> a b c"),
       "rearrange: \"a b -> a b c\": c is on the right only"},
      {"rearrange, twice", rearranged("a a -> a"), "rearrange: \"a a -> a\": a comes twice"},
      {"rearrange, open sizes", rearranged("a (b c) -> a b c"),
       "rearrange: \"a (b c) -> a b c\": the sizes of b and c are not given"},
      {"rearrange, no multiple", rearranged("a (b c) -> a b c", {{"b", 4}}),
       "rearrange: \"a (b c) -> a b c\": axis 1 of shape (2, 6) is no multiple of 4"},
      {"rearrange, not the size", rearranged("a b -> b a", {{"a", 3}}),
       "rearrange: \"a b -> b a\": axis 0 of shape (2, 6) is not 3"},
      {"rearrange, not 1", rearranged("1 b -> b"),
       "rearrange: \"1 b -> b\": axis 0 of shape (2, 6) is not 1"},
      {"rearrange, unknown size", rearranged("a b -> b a", {{"c", 3}}),
       "rearrange: \"a b -> b a\": there is no c to be of size 3"},
      {"rearrange, brackets", rearranged("a (b -> a b"),
       "rearrange: \"a (b -> a b\": brackets do not match"},
      {"rearrange, nested", rearranged("((a b)) -> a b"),
       "rearrange: \"((a b)) -> a b\": brackets do not match"},
      {"rearrange, sign", rearranged("a, b -> a"),
       "rearrange: \"a, b -> a\": ',' is part of no name"},
      {"rearrange, number", rearranged("a 2 -> a"), "rearrange: \"a 2 -> a\": 2 is no name"},
      {"rearrange, ellipses", rearranged("... ... -> ..."),
       "rearrange: \"... ... -> ...\": more than one ellipsis"},
      {"rearrange, ellipsis on the right", rearranged("a b -> a b ..."),
       "rearrange: \"a b -> a b ...\": an ellipsis is on the right only"},
      {"rearrange, ellipsis in brackets", rearranged("(a ...) -> a ..."),
       "rearrange: \"(a ...) -> a ...\": an ellipsis in brackets on the left"},
      {"reduce", [&] { x.reduce("a b -> a c", Tensor::Reduce::Sum); },
       "reduce: \"a b -> a c\": c is on the right only"},
      {"repeat", [&] { x.repeat("a b -> a b c", {}); },
       "repeat: \"a b -> a b c\": the size of c is not given"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, ProductsByLabels) {
  const Tensor x = of({2, 3}), y = of({3, 4}), v = of({3});
  const Tensor elsewhere = of({3, 4}, {.device = "INTERP:1"});
  const auto einsum = [](std::string_view formula, const std::vector<Tensor>& operands) {
    return [formula, operands] { Tensor::einsum(formula, operands); };
  };
  const WrongCall calls[] = {
      {"einsum, operands", einsum("ij,jk", {x}),
       "einsum: \"ij,jk\": 2 operands are written, 1 given"},
      {"einsum, no operands", einsum("", {}), "einsum: \"\": 1 operands are written, 0 given"},
      {"einsum, letters", einsum("i1->i", {x}),
       "einsum: \"i1->i\": '1' is no letter, and not the only \"...\" of \"i1\""},
      {"einsum, ellipses", einsum("...i...", {x}),
       "einsum: \"...i...\": '.' is no letter, and not the only \"...\" of \"...i...\""},
      {"einsum, axes", einsum("ijk", {x}),
       "einsum: \"ijk\": operand 0 of shape (2, 3) has not the axes \"ijk\""},
      {"einsum, fewer axes", einsum("ij,j", {x, y}),
       "einsum: \"ij,j\": operand 1 of shape (3, 4) has not the axes \"j\""},
      {"einsum, axes beside an ellipsis", einsum("i...jk", {x}),
       "einsum: \"i...jk\": operand 0 of shape (2, 3) has not the axes \"i...jk\""},
      {"einsum, sizes", einsum("ij,ij", {x, y}), "einsum: \"ij,ij\": i is 2 and 3"},
      {"einsum, sizes of the ellipsis", einsum("...,...", {x, y}),
       "einsum: \"...,...\": axis -2 of the ellipsis is 2 and 3"},
      {"einsum, diagonal", einsum("ii", {x}), "einsum: \"ii\": i is 2 and 3"},
      {"einsum, diagonal of 1", einsum("ii", {of({1, 3})}),
       "einsum: \"ii\": i is twice in operand 0 of shape (1, 3), with different sizes"},
      {"einsum, output", einsum("ij->ik", {x}),
       "einsum: \"ij->ik\": k of the output is in no operand"},
      {"einsum, output twice", einsum("ij->ii", {x}),
       "einsum: \"ij->ii\": i is in the output twice"},
      {"einsum, devices", einsum("ij,jk", {x, elsewhere}),
       "einsum: one tensor is on " + x.device() + ", another on INTERP:1: move one with to()"},
      {"mm", [&] { x.mm(x); }, "mm: shapes (2, 3) and (2, 3) are not (n, k) and (k, m)"},
      {"bmm", [&] { x.bmm(y); }, "bmm: shapes (2, 3) and (3, 4) are not (b, n, k) and (b, k, m)"},
      {"mv", [&] { y.mv(v); }, "mv: shapes (3, 4) and (3,) are not (n, k) and (k)"},
      {"addmm", [&] { x.addmm(x, y); },
       "addmm: shapes (2, 3) and (2, 4) do not broadcast: 3 does not match 4"},
      {"addmm, larger", [&] { of({5, 2, 4}).addmm(x, y); },
       "addmm: shape (5, 2, 4) does not fit products of shape (2, 4)"},
      {"inner", [&] { x.inner(y); }, "inner: the last axes of shapes (2, 3) and (3, 4) differ"},
      {"tensordot", [&] { x.tensordot(y, 3); }, "tensordot: 3 axes of shapes (2, 3) and (3, 4)"},
      {"tensordot, axes", [&] { x.tensordot(y, {0, 1}, {0}); },
       "tensordot: axes (0, 1) with axes (0): want as many of each"},
      {"tensordot, sizes", [&] { x.tensordot(y, {0}, {0}); },
       "tensordot: axis 0 of shape (2, 3) is not as long as axis 0 of shape (3, 4)"},
      {"imatmul", [&] { Tensor(x).imatmul(y); },
       "imatmul: shapes (2, 3) and (2, 4) do not broadcast: 3 does not match 4"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
