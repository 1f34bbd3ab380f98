#!/usr/bin/env python3
"""Prints src/io/unicode_classes.h, by the Python package regex. Usage: unicode_classes.py >src/io/unicode_classes.h"""

import regex


def ranges(pattern):
    matches = regex.compile(pattern).match
    points = [p for p in range(0x110000) if not 0xD800 <= p <= 0xDFFF and matches(chr(p))]
    starts = [p for i, p in enumerate(points) if i == 0 or points[i - 1] != p - 1]
    ends = [p for i, p in enumerate(points) if i + 1 == len(points) or points[i + 1] != p + 1]
    return zip(starts, ends)


print("""// Written by scripts/unicode_classes.py.
#pragma once

namespace weft {

struct CodeRange {
  char32_t first, last;
};
// clang-format off""")
for name, pattern in (("letter", r"\p{L}"), ("number", r"\p{N}"), ("blank", r"\s")):
    print(f"inline constexpr CodeRange {name}_ranges[] = {{")
    items = [f"{{0x{first:x}, 0x{last:x}}}" for first, last in ranges(pattern)]
    for i in range(0, len(items), 5):
        print("    " + ", ".join(items[i : i + 5]) + ",")
    print("};")
print("""// clang-format on

}  // namespace weft""")
