"""Writes the files beside it: what NumPy and Pillow make of arrays that tests/io knows."""

from pathlib import Path

import numpy as np
from PIL import Image

here = Path(__file__).parent
rows = np.arange(6).reshape(2, 3)

for name in "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split():
    np.save(here / f"{name}.npy", rows.astype(name) if name != "b1" else rows % 2 == 0)
np.save(here / "fortran.npy", np.asfortranarray(rows.astype("f4")))
np.save(here / "big_endian.npy", rows.astype(">i4"))
np.save(here / "scalar.npy", np.float64(2.5))
np.save(here / "empty.npy", np.zeros((0, 3), "f4"))
np.save(here / "text.npy", np.array(["a", "bc"]))
np.save(here / "complex.npy", np.array([1j]))
with open(here / "version2.npy", "wb") as file:
    np.lib.format.write_array(file, rows.astype("i4"), version=(2, 0))
np.savez(here / "stored.npz", a=rows.astype("f4"), b=np.int64(7))
np.savez_compressed(here / "deflated.npz", a=np.zeros((100, 100), "f4"), b=rows.astype("u8"))
pixels = (np.arange(24) * 10).astype("u1").reshape(2, 4, 3)
Image.fromarray(pixels).save(here / "rgb.png")
Image.fromarray(pixels[:, :, 0]).save(here / "grey.png")
