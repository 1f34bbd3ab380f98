"""Movement: what only looks at a tensor from elsewhere, and what puts tensors together."""

import torch

from cases import *

SHAPES = [(2, 3), (4,), (3, 1, 2), (0, 3), (1,)]

for shape, shift, axis in [((2, 3), 2, 1), ((2, 3), -1, 0), ((5,), 7, 0), ((0, 3), 1, 1), ((1,), 3, 0)]:
    case("roll", torch.roll, [floats(shape)], shifts=shift, dims=axis)
case("roll", torch.roll, [transposed(ints((2, 3)))], shifts=1, dims=-1)
