"""Writes batches as CIFAR-10 has them: two images, whose pixels count up, as a pickle of Python 2 and of Python 3."""

import pickle
from pathlib import Path

import numpy as np

here = Path(__file__).parent
data = np.arange(2 * 3072).reshape(2, 3072).astype("u1")


def text(value):  # as cPickle of Python 2 writes it
    return b"U" + bytes([len(value)]) + value


array = (
    b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85" + text(b"b") + b"tR(K\x01K\x02M\x00\x0c\x86cnumpy\ndtype\n("
    + text(b"u1") + b"K\x00K\x01tR(K\x03" + text(b"|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T"
    + data.nbytes.to_bytes(4, "little") + data.tobytes() + b"tb"
)
two = b"\x80\x02}(" + text(b"data") + array + text(b"labels") + b"](K\x03K\x09eu."
assert (pickle.loads(two, encoding="bytes")[b"data"] == data).all()
(here / "cifar_python2").write_bytes(two)
(here / "cifar_python3").write_bytes(pickle.dumps({b"data": data, b"labels": [3, 9]}, protocol=2))
