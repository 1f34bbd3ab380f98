"""Dtypes as weft's documents describe them, for check_oracle.py."""
import numpy as np

TYPES = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16,
         "f32": np.float32, "f64": np.float64}
NAMES = {np.dtype(t): n for n, t in TYPES.items()}


class Unsupported(Exception):
    pass


def is_float(dtype):
    return np.issubdtype(dtype, np.floating)


def promoted(a, b):
    """As dtype.h: u64 beside signed integers is f32, an integer beside a float is that float."""
    a, b = np.dtype(a), np.dtype(b)
    if a == b:
        return a
    for one, other in ((a, b), (b, a)):
        if one == np.bool_:
            return other
        if is_float(one) and not is_float(other):
            return one
    if np.uint64 in (a, b) and not is_float(a) and np.int64 != np.promote_types(a, b):
        other = b if a == np.uint64 else a
        return np.dtype(np.uint64) if np.issubdtype(other, np.unsignedinteger) else np.dtype(np.float32)
    return np.promote_types(a, b)


def cast(x, dtype):
    """Floats to integers truncate and saturate; NaN is 0."""
    dtype = np.dtype(dtype)
    if is_float(x.dtype) and np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        wide = np.where(np.isnan(x), 0, np.trunc(x.astype(np.float64)))
        result = np.clip(wide, float(info.min), float(info.max))
        result = np.where((wide >= float(info.max)) | (wide <= float(info.min)), 0, result).astype(dtype)
        result = np.where(wide >= float(info.max), info.max, result)
        return np.where(wide <= float(info.min), info.min, result).astype(dtype)
    if is_float(dtype) and dtype == np.float16 and x.dtype in (np.int32, np.int64, np.uint32, np.uint64):
        return x.astype(np.float64).astype(dtype)
    return x.astype(dtype)


def float_like(dtype):
    return np.dtype(dtype) if is_float(dtype) else np.dtype(np.float32)


def summed(dtype):
    dtype = np.dtype(dtype)
    if is_float(dtype):
        return np.promote_types(dtype, np.float32)
    return dtype if dtype == np.uint64 else np.dtype(np.int64)


def contracted(dtype):
    dtype = np.dtype(dtype)
    if is_float(dtype):
        return np.promote_types(dtype, np.float32)
    if dtype.itemsize >= 4:
        return dtype
    return np.dtype(np.uint32 if np.issubdtype(dtype, np.unsignedinteger) else np.int32)


def zero_where(mask, values):
    return np.where(mask, np.zeros((), values.dtype), values)
