#!/usr/bin/env python3
"""Draws the digits of this folder: draw_digits.py writes 0.png to 9.png beside itself.

A digit is strokes: polygons through points, round where an arc is, drawn with a round pen, light on dark.
"""
import math
import pathlib
import struct
import zlib

SIZE, PEN, SAMPLES = 84, 0.055, 3  # pixels; the pen's radius; samples of a pixel, each way


def arc(x, y, wide, high, start, stop):
    """Points of an ellipse, from one angle to another, in degrees; 0 is right, 90 is down."""
    steps = max(2, int(abs(stop - start) / 10))
    angles = [math.radians(start + (stop - start) * i / steps) for i in range(steps + 1)]
    return [(x + wide * math.cos(a), y + high * math.sin(a)) for a in angles]


# In a square of side 1, from its upper left corner.
DIGITS = {
    0: [arc(0.5, 0.5, 0.2, 0.3, 0, 360)],
    1: [[(0.42, 0.3), (0.53, 0.2), (0.5, 0.8)]],
    2: [arc(0.5, 0.37, 0.18, 0.17, -170, 40) + [(0.32, 0.78), (0.7, 0.78)]],
    3: [arc(0.48, 0.35, 0.17, 0.15, -150, 90) + arc(0.48, 0.64, 0.2, 0.16, -90, 150)],
    4: [[(0.38, 0.2), (0.32, 0.54), (0.7, 0.52)], [(0.64, 0.25), (0.58, 0.82)]],
    5: [[(0.68, 0.21), (0.4, 0.22), (0.37, 0.46)] + arc(0.48, 0.61, 0.19, 0.18, -110, 140)],
    6: [[(0.6, 0.18), (0.42, 0.4)] + arc(0.5, 0.63, 0.17, 0.17, -160, 200)],
    7: [[(0.3, 0.24), (0.7, 0.22), (0.47, 0.82)]],
    8: [arc(0.5, 0.35, 0.14, 0.14, 90, 450) + arc(0.5, 0.65, 0.17, 0.16, -90, 270)],
    9: [arc(0.5, 0.37, 0.16, 0.16, 0, 360) + [(0.65, 0.5), (0.58, 0.82)]],
}


def distance(x, y, start, end):
    """From a point to a line between two."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    at = ((x - start[0]) * dx + (y - start[1]) * dy) / length if length else 0
    at = min(max(at, 0), 1)
    return math.hypot(x - start[0] - at * dx, y - start[1] - at * dy)


def drawn(strokes):
    """Rows of pixels from 0 to 255: which part of each the pen has covered."""
    lines = [pair for stroke in strokes for pair in zip(stroke, stroke[1:])]
    places = [(i + 0.5) / SAMPLES for i in range(SAMPLES)]

    def pixel(row, column):
        points = [((column + a) / SIZE, (row + b) / SIZE) for a in places for b in places]
        inside = [any(distance(x, y, *line) < PEN for line in lines) for x, y in points]
        return round(255 * sum(inside) / len(inside))

    return [bytes(pixel(row, column) for column in range(SIZE)) for row in range(SIZE)]


def png(rows):
    """A grey image, 8 bits each."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels)
            + chunk(b"IEND", b""))


if __name__ == "__main__":
    for digit, strokes in DIGITS.items():
        (pathlib.Path(__file__).parent / f"{digit}.png").write_bytes(png(drawn(strokes)))
