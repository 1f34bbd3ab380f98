"""Fourier transforms. Complex tensors are real ones whose last axis has the two parts."""

import torch

from cases import *

NORMS = ["backward", "ortho", "forward"]
SMALL = {"f32": {"rtol": 1e-5, "atol": 1e-5}, "f64": {}}


def parts(x):
    return torch.view_as_real(x.resolve_conj()) if x.is_complex() else x


def of_complex(function):
    return lambda x, **arguments: parts(function(torch.view_as_complex(x.contiguous()), **arguments))


def of_real(function):
    return lambda x, **arguments: parts(function(x, **arguments))


LINES = [((8,), -1), ((3, 5), 1), ((1,), 0), ((6, 2), 0), ((2, 12), -1), ((2, 3, 4), 1)]
for (shape, dim), norm, dtype in zip(LINES, NORMS * 2, ["f64", "f64", "f32", "f64", "f32", "f64"]):
    size = shape[dim]
    for n in [None, size + 3, max(1, size - 2)]:
        for name in ["fft", "ifft", "hfft"]:
            if name != "hfft" or size > 1 or n is not None:
                case(name, of_complex(getattr(torch.fft, name)), [floats(shape + (2,), dtype=dtype)], n=n, dim=dim, norm=norm, **SMALL[dtype])
        for name in ["rfft", "ihfft"]:
            case(name, of_real(getattr(torch.fft, name)), [floats(shape, dtype=dtype)], n=n, dim=dim, norm=norm, **SMALL[dtype])
        if size > 1 or n is not None:
            case("irfft", of_complex(torch.fft.irfft), [floats(shape + (2,), dtype=dtype)], n=n, dim=dim, norm=norm, **SMALL[dtype])
for name in ["fft", "ifft", "irfft"]:
    case(name, of_complex(getattr(torch.fft, name)), [flipped(floats((2, 7, 2), dtype="f64"), 0)], dim=1)
case("rfft", of_real(torch.fft.rfft), [transposed(floats((6, 2), dtype="f64"))])
case("rfft", of_real(torch.fft.rfft), [ints((6,))], **SMALL["f32"])
case("irfft", of_complex(torch.fft.irfft), [floats((5, 2), dtype="f64")], n=9)

GRIDS = [((4, 3), None, None), ((2, 3, 5), [4, 2], [0, 2]), ((2, 3, 4), [3, -1], None), ((1, 1), None, [1, 0]), ((3, 6), None, [-1])]
for (shape, s, dim), norm in zip(GRIDS, NORMS * 2):
    x, z = floats(shape, dtype="f64"), floats(shape + (2,), dtype="f64")
    for name in ["fftn", "ifftn"]:
        case(name, of_complex(getattr(torch.fft, name)), [z], s=s, dim=dim, norm=norm)
    case("rfftn", of_real(torch.fft.rfftn), [x], s=s, dim=dim, norm=norm)
    if shape != (1, 1):
        case("irfftn", of_complex(torch.fft.irfftn), [z], s=s, dim=dim, norm=norm)
case("irfftn", of_complex(torch.fft.irfftn), [floats((1, 1, 2), dtype="f64")], s=[1, 1])
for shape, s in [((4, 3), None), ((2, 3, 5), None), ((2, 3), [4, 4]), ((1, 2), None), ((2, 2), [3, 2])]:
    x, z = floats(shape, dtype="f64"), floats(shape + (2,), dtype="f64")
    case("rfft2", of_real(torch.fft.rfft2), [x], s=s)
    for name in ["fft2", "ifft2", "irfft2"]:
        case(name, of_complex(getattr(torch.fft, name)), [z], s=s)

for n, d in [(1, 1.0), (2, 0.5), (7, 1.0), (8, 2.0), (9, 0.1)]:
    case("fftfreq", torch.fft.fftfreq, n=n, d=d)
    case("rfftfreq", torch.fft.rfftfreq, n=n, d=d)
for shape, dim in [((5,), None), ((4, 3), None), ((4, 3), [1]), ((1,), 0), ((0, 2), None), ((2, 3, 2), [0, 2])]:
    case("fftshift", torch.fft.fftshift, [floats(shape)], dim=dim)
    case("ifftshift", torch.fft.ifftshift, [floats(shape)], dim=dim)

for n, periodic in product([0, 1, 2, 7, 8], [True, False]):
    for name in ["hann_window", "blackman_window", "bartlett_window", "hamming_window"]:
        case(name, lambda n, periodic: getattr(torch, name)(n, periodic), n=n, periodic=periodic)
        case(name, lambda n, periodic: getattr(torch, name)(n, periodic, dtype=torch.float64), n=n, periodic=periodic)
case("hamming_window", lambda n, alpha, beta: torch.hamming_window(n, True, alpha, beta), n=6, alpha=0.6, beta=0.3)


def stft(x, window=None, **arguments):
    return parts(torch.stft(x, window=window, return_complex=True, **arguments))


def istft(x, window=None, **arguments):
    return torch.istft(torch.view_as_complex(x.contiguous()), window=window, **arguments)


hann = torch.hann_window(8, dtype=torch.float64)
uneven = torch.linspace(0.5, 1.5, 5, dtype=torch.float64)
case("stft", stft, [floats((20,), dtype="f64")], n_fft=8)
case("stft", stft, [floats((2, 17), dtype="f64"), hann], n_fft=8, hop_length=3)
case("stft", stft, [floats((20,)), hann.float()], n_fft=8, center=False, normalized=True, **SMALL["f32"])
case("stft", stft, [floats((20,), dtype="f64"), uneven], n_fft=8, win_length=5, onesided=False)
for mode in ["constant", "replicate", "circular"]:
    case("stft", stft, [floats((1, 12), dtype="f64"), hann], n_fft=8, hop_length=2, pad_mode=mode)
case("stft", stft, [flipped(floats((9,), dtype="f64"), 0)], n_fft=1, hop_length=2)
case("istft", istft, [floats((5, 6, 2), dtype="f64")], n_fft=8)
case("istft", istft, [floats((2, 5, 4, 2), dtype="f64"), hann], n_fft=8, hop_length=3)
case("istft", istft, [floats((5, 4, 2)), hann.float()], n_fft=8, hop_length=2, normalized=True, **SMALL["f32"])
case("istft", istft, [floats((8, 4, 2), dtype="f64"), uneven], n_fft=8, win_length=5, hop_length=2, onesided=False)
case("istft", istft, [floats((5, 4, 2), dtype="f64")], n_fft=8, hop_length=4, center=False, length=18)
case("istft", istft, [floats((5, 1, 2), dtype="f64")], n_fft=8, hop_length=4, center=False)
