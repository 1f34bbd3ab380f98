"""Methods one after another, as op_suite.txt wants them, and methods at sizes and values that no other group has."""

import torch
import torch.nn.functional as F

from cases import *

inf, nan = float("inf"), float("nan")
EDGES = [-300.0, -90.0, -1.0, 0.0, 1.0, 90.0, 300.0]

# Convolutions of convolutions, and beside padding.
case("conv_of_conv", lambda x, a, b: F.conv2d(F.conv2d(x, a).relu(), b), [floats((2, 3, 6, 5)), floats((4, 3, 2, 2)), floats((3, 4, 2, 2))], rtol=1e-4, atol=1e-4)
case("conv_of_conv", lambda x, a, b: F.conv2d(F.conv2d(x, a).relu(), b), [permuted(floats((1, 5, 4, 3)), 0, 3, 1, 2), floats((2, 3, 2, 2)), floats((2, 2, 1, 1))], rtol=1e-4, atol=1e-4)
for c in [1, 8]:
    case("biased_conv", lambda x, w, b: F.conv2d(F.conv2d(x, w, b).relu(), w, b), [floats((1, c, 5, 5)), floats((c, c, 1, 1)), floats((c,))], rtol=1e-4, atol=1e-4)
case("add_padded", lambda x, y: x + F.pad(y, (1, 1, 1, 1)), [floats((8, 8)), floats((6, 6))])

# Products of products.
case("matvec", lambda x, y: x @ y.relu(), [floats((1, 8)), floats((8, 8))], atol=1e-5)
case("matvecmat", lambda x, y, z: (x @ y.relu()) @ z, [floats((1, 8)), floats((8, 8)), floats((8, 8))], rtol=1e-4, atol=1e-4)
case("sum_of_product", lambda x, y: (x * y).sum(-1), [expanded(values([[1.0], [2.0]]), 2, 5), expanded(values([[0.5]]), 2, 5)])
case("sum_of_product", lambda x, y: (x * y).sum(-1), [expanded(floats((3, 1, 4)), 3, 5, 4), expanded(floats((1, 5, 4)), 3, 5, 4)], atol=1e-5)

# Sums.
case("sum_of_padded", lambda x: F.pad(x, (1, 2, 1, 2)).sum(1), [values([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])])
case("sum_of_joined", lambda x, y: torch.cat([x, y]).sum(0), [values([[1.0, 1.0], [1.0, 1.0]]), values([[0.0, 0.0]])])
case("sum_of_sum", lambda x: x.sum(1).sum(0) + x.sum(), [floats((3, 4, 2))], atol=1e-5)
case("relu_of_sum", lambda x: x.relu().sum().relu(), [floats((3, 4, 5))], atol=1e-4)
case("relu_of_sum", lambda x: x.relu().sum().relu(), [floats((0,))])
case("sum_of_constant", lambda n, value: torch.full((n, n), value).sum(1), [], n=16, value=1.0)
case("sum_of_constant", lambda n, value: torch.full((n, n), value).sum(1), [], n=16, value=-1.0)
case("sum_of_constant", lambda n, value: torch.full((n, n), value).sum(1), [], n=0, value=1.0)
case("reductions_of_constant", lambda n, value: (torch.full((n,), value).sum(), torch.full((n,), value).prod(), torch.full((n,), value).max(), torch.full((n,), value).mean()),
     [], n=4, value=1.5)
case("argmax_of_softmax", lambda x, axis: x.softmax(axis).argmax(axis), [distinct((3, 5))], axis=0, out="i32")
case("argmax_of_softmax", lambda x, axis: x.softmax(axis).argmax(axis), [distinct((3, 5))], axis=1, out="i32")

# Movement of movement.
for pads, shape in [([1, 2], [4, 3]), ([0, 3], [2, 6]), ([1, 1], [11])]:
    case("reshape_of_padded", lambda x, pads, shape: F.pad(x.reshape(3, -1), (0, 0, *pads)).reshape(-1)[: torch.Size(shape).numel()].reshape(shape), [floats((3, 4))],
         pads=pads, shape=shape)
for start in [0, 1, 3]:
    case("slice_of_padded", lambda x, start: F.pad(x, (2, 3))[:, start : start + 4], [floats((2, 3))], start=start)
    case("slice_of_stack", lambda x, y, start: torch.stack([x, y], 1)[start % 2 :, 1:, start:], [floats((2, 5)), floats((2, 5))], start=start)
case("max_of_stack", lambda x, y: torch.stack([x, y]).amax(0), [distinct((3, 4)), distinct((3, 4), -2.9, 3.1)])
case("slice_of_slice", lambda x: x[1:][:, ::2][:, 1:][0], [floats((3, 7))])
case("slice_of_slice", lambda x: x[1:][:, ::2][:, 1:][0], [transposed(floats((7, 3)))])
case("flipped_eye", lambda n: torch.eye(n).flip(0), [], n=10)
case("flipped_eye", lambda n: torch.eye(n).flip(0), [], n=1)

# Functions of functions.
case("twice", lambda x: (x + x) * x + (x + x), [floats((2, 3))])
case("twice", lambda x: (x + x) * x + (x + x), [floats(())])
case("three", lambda x, y, z: x + y + z, [floats((4, 5)), floats((4, 5)), floats((4, 5))])
case("three", lambda x, y, z: x + y + z, [floats((4, 1)), floats((1, 5)), floats(())])
case("power_by_logarithms", lambda x, y: (x.log2() * y).exp2(), [values([0.0, 0.0, 1.0, 2.0, 0.5]), values([-1.0, 1.0, -3.0, -2.0, 0.5])], grad=False)
case("power_by_logarithms", lambda x, y: (x.log2() * y).exp2(), [floats((2, 3), 0.5, 3), floats((3,))], atol=1e-5)
case("sigmoid_by_exp", lambda x: 1 / (1 + (-x).exp()), [values(EDGES)], grad=False)
case("sigmoid_by_exp", lambda x: x.exp() / (1 + x.exp()), [values([-90.0, -1.0, 0.0, 1.0, 60.0])])
case("rounding_error", lambda x: (x.round() - x).detach() + x, [floats((3, 4))])
case("shifted_quotient", lambda x, by: torch.div(x - 7, by, rounding_mode="floor"), [ints((9,), -20, 20)], by=4)
case("shifted_quotient", lambda x, by: torch.div(x - 7, by, rounding_mode="floor"), [values([-9, -8, -7, -1, 0, 1, 7, 8], "i64")], by=8)
case("relu_of_cast", lambda x: x.float().relu(), [ints((2, 3), 0, 255, "u8")])
case("relu_of_cast", lambda x: x.float().relu(), [ints((2, 3), -90, 90, "i8")])
case("infinite_where", lambda x, limit: torch.where(x < limit, x, inf), [floats((3, 4))], limit=0.5)
case("infinite_where", lambda x, limit: torch.where(x < limit, x, inf), [values([inf, -inf, nan, 0.0])], limit=0.5)
