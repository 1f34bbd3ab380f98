#!/usr/bin/env python3
"""Write a corpus of real index expressions as weft IR text:  make_corpus.py OUT [--count N]

A tensor compiler spends much of its time simplifying index arithmetic, so that is what the
benchmarks measure; they need expressions of the kind compilers really meet. This program takes
layers of well known networks (convolutions, attention, pooling, window partition, ...), writes
each as a buffer seen through a chain of movement operations, picks a loop nest for the layer's
output, and pushes the loop indices back through the chain, from the output down to a flat offset
into the buffer and the condition under which that offset may be read. Nothing is simplified on
the way, apart from axes of size one, adding 0 and multiplying by 1, so what comes out is what a
scheduler hands to its simplifier. The same seed gives the same file, byte for byte.
"""
import argparse
import itertools
import random
from math import gcd, prod

SEED = 20240607
MIN_OPS, MAX_OPS = 5, 150


# ---- Expressions: interned nodes, Python ints and bools for what is known ----------------------

class Node:
    """One operation. Made only by node(), which returns the same object for equal operations."""
    __slots__ = ("op", "args", "attr")
    table = {}


def node(op, *args, attr=None):
    args = tuple(a if isinstance(a, Node) else const(a) for a in args)
    key = (op, attr) + args
    if key not in Node.table:
        new = Node.table[key] = Node()
        new.op, new.args, new.attr = op, args, attr
    return Node.table[key]


def const(value):
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return node("const", attr=text)


def variable(name, lo, hi):
    return node("variable", attr=(name, lo, hi))


def known(*values):
    return not any(isinstance(v, Node) for v in values)


def add(a, b):
    if known(a, b):
        return a + b
    if known(a) and a == 0:
        return b
    return a if known(b) and b == 0 else node("add", a, b)


def mul(a, b):
    if known(a, b):
        return a * b
    for x, y in ((a, b), (b, a)):
        if known(x) and x in (0, 1):
            return y if x == 1 else 0
    return node("mul", a, b)


def sub(a, b):
    return add(a, mul(b, -1))


def div(a, b):
    if known(a, b):
        return a // b
    if known(a) and a == 0 or known(b) and b == 1:
        return a
    return node("floordiv", a, b)


def mod(a, b):
    if known(a, b):
        return a % b
    if known(a) and a == 0 or known(b) and b == 1:
        return 0
    return node("floormod", a, b)


def less(a, b):
    return a < b if known(a, b) else node("cmplt", a, b)


def negate(c):
    return not c if known(c) else node("cmpne", c, True)


def at_least(a, b):
    return negate(less(a, b))


def equal(a, b):
    return a == b if known(a, b) else negate(node("cmpne", a, b))


def both(a, b):
    for x, y in ((a, b), (b, a)):
        if known(x):
            return y if x else False
    return a if a is b else node("and", a, b)


def either(a, b):
    return negate(both(negate(a), negate(b))) if known(a) or known(b) else node("or", a, b)


def choose(c, a, b):
    return (a if c else b) if known(c) else node("where", c, a, b)


def maximum(a, b):
    return max(a, b) if known(a, b) else node("max", a, b)


def product(sizes):
    total = 1
    for s in sizes:
        total = mul(total, s)
    return total


def ceil_div(a, b):
    return div(add(a, b - 1), b)


def flatten(index, shape):
    flat, stride = 0, 1
    for i, s in zip(reversed(index), reversed(shape)):
        flat, stride = add(mul(i, stride), flat), mul(stride, s)
    return flat


def unflatten(flat, shape):
    index = []
    for s in reversed(shape):
        index.append(mod(flat, s))
        flat = div(flat, s)
    return index[::-1]


# ---- Views: a buffer behind a chain of movement operations -------------------------------------

class View:
    """Methods extend the chain, from the buffer towards the output; at() walks it back.

    With by_block a reshape only mixes the axes it has to; without, it flattens them all, as a
    scheduler that does not look at the shapes would.
    """
    by_block = False

    def __init__(self, *shape, pitch=None):
        self.shape, self.steps, self.buffer = shape, (), shape
        self.pitch = pitch  # elements from one row to the next, where rows are padded

    def step(self, shape, undo):
        new = View(*self.buffer, pitch=self.pitch)
        new.shape, new.steps = tuple(shape), self.steps + (undo,)
        return new

    def at(self, index):
        index, valid = list(index), True
        for undo in reversed(self.steps):
            index, gate = undo(index)
            valid = both(valid, gate)
        if self.pitch:
            rows = flatten(index[:-1], self.buffer[:-1])
            return add(mul(rows, self.pitch), index[-1]), valid
        return flatten(index, self.buffer), valid

    def reshape(self, *new):
        old = self.shape
        if -1 in new:
            at, rest = new.index(-1), prod(s for s in new if s != -1)
            new = new[:at] + (prod(old) // rest,) + new[at + 1:]
        pieces = blocks(new, old) if View.by_block else [(slice(None), slice(None))]

        def undo(index):
            out = []
            for n, o in pieces:
                same = new[n] == old[o]
                out += index[n] if same else unflatten(flatten(index[n], new[n]), old[o])
            return out, True
        return self.step(new, undo)

    def permute(self, *order):
        def undo(index):
            return [index[order.index(axis)] for axis in range(len(order))], True
        return self.step([self.shape[axis] for axis in order], undo)

    def expand(self, *new):
        old = self.shape
        new = [o if n is None else n for n, o in zip(new, old)]

        def undo(index):
            return [0 if known(o) and o == 1 else i for i, o in zip(index, old)], True
        return self.step(new, undo)

    def shrink(self, *bounds):
        bounds = [b or (0, s) for b, s in zip(bounds, self.shape)]

        def undo(index):
            return [add(i, lo) for i, (lo, _) in zip(index, bounds)], True
        return self.step([sub(hi, lo) for lo, hi in bounds], undo)

    def pad(self, *pads):
        old, pads = self.shape, [p or (0, 0) for p in pads]

        def undo(index):
            out, valid = [], True
            for i, s, (lo, hi) in zip(index, old, pads):
                if known(lo, hi) and lo == hi == 0:
                    out.append(i)
                    continue
                inside = both(at_least(i, lo), less(i, add(s, lo)))
                out.append(sub(i, lo))
                valid = both(valid, inside)
            return out, valid
        return self.step([add(add(s, lo), hi) for s, (lo, hi) in zip(old, pads)], undo)

    def flip(self, *axes):
        old = self.shape

        def undo(index):
            return [sub(s - 1, i) if axis in axes else i
                    for axis, (i, s) in enumerate(zip(index, old))], True
        return self.step(old, undo)

    def gather(self, axis, size, source):
        """An axis of the given size whose element i is element source(i) of the present one."""
        axis %= len(self.shape)

        def undo(index):
            return index[:axis] + [source(index[axis])] + index[axis + 1:], True
        return self.step(self.shape[:axis] + (size,) + self.shape[axis + 1:], undo)

    def mask(self, condition):
        """Readable only where condition(index) holds."""
        return self.step(self.shape, lambda index: (index, condition(index)))

    # Shorthands over the operations above.

    def on(self, axis, method, arg):
        """A pad or shrink of one axis."""
        args = [None] * len(self.shape)
        args[axis] = arg
        return method(self, *args)

    def take(self, axis, lo, hi):
        return self.on(axis, View.shrink, (lo, hi))

    def part(self, axis, before, after):
        """This view as one operand of a concatenation."""
        return self.on(axis, View.pad, (before, after))

    def insert(self, axis, size):
        """A new axis along which every element repeats."""
        shape = self.shape[:axis] + (1,) + self.shape[axis:]
        new = self.step(shape, lambda index: (index[:axis] + index[axis + 1:], True))
        return new.expand(*[size if a == axis else None for a in range(len(shape))])

    def repeat(self, *times):
        inner = [x for t, s in zip(times, self.shape) for x in (t, s)]
        ones = [1 if i % 2 == 0 else x for i, x in enumerate(inner)]
        return self.reshape(*ones).expand(*inner).reshape(
            *[t * s for t, s in zip(times, self.shape)])

    def every(self, axis, step):
        """x[::step], as pad, reshape and shrink."""
        axis %= len(self.shape)
        n = self.shape[axis]
        x = self.part(axis, 0, -n % step) if n % step else self
        n = x.shape[axis] // step
        x = x.reshape(*x.shape[:axis], n, step, *x.shape[axis + 1:]).take(axis + 1, 0, 1)
        return x.reshape(*x.shape[:axis], n, *x.shape[axis + 2:])

    def windows(self, k, s, d, chain):
        """Sliding windows over the last axes: shape (..., windows..., k...)."""
        return self.windows_by_chain(k, s, d) if chain else self.windows_by_stride(k, s, d)

    def windows_by_stride(self, k, s, d):
        n, lead = len(k), len(self.shape) - len(k)
        out = [(i - dd * (kk - 1) - 1) // ss + 1
               for i, kk, ss, dd in zip(self.shape[lead:], k, s, d)]

        def undo(index):
            o, w = index[lead:lead + n], index[lead + n:]
            return index[:lead] + [add(mul(a, ss), mul(b, dd))
                                   for a, b, ss, dd in zip(o, w, s, d)], True
        return self.step(self.shape[:lead] + tuple(out) + tuple(k), undo)

    def windows_by_chain(self, k, s, d):
        """The same without a strided view: each window row is a shifted copy of a repeated row."""
        n, lead = len(k), self.shape[:-len(k)]
        size = self.shape[len(lead):]
        out = [-(-(i - dd * (kk - 1)) // ss) for i, kk, ss, dd in zip(size, k, s, d)]
        fit = [max(1, -(-(o * ss - dd) // i)) for o, ss, i, dd in zip(out, s, size, d)]
        row = [i * f + dd for i, f, dd in zip(size, fit, d)]

        def pairs(a, b):
            return [x for two in zip(a, b) for x in two]

        def keep(x, sizes):
            return x.shrink(*[(0, m) for m in (*lead, *sizes)])
        x = self.repeat(*[1] * len(lead), *[-(-kk * r // i) for kk, r, i in zip(k, row, size)])
        x = keep(x, [kk * r for kk, r in zip(k, row)]).reshape(*lead, *pairs(k, row))
        x = keep(x, pairs(k, [o * ss for o, ss in zip(out, s)]))
        x = x.reshape(*lead, *[y for three in zip(k, out, s) for y in three])
        x = keep(x, [y for kk, o in zip(k, out) for y in (kk, o, 1)])
        x = x.reshape(*lead, *pairs(k, out))
        m = len(lead)
        return x.permute(*range(m), *[m + 2 * a + 1 for a in range(n)],
                         *[m + 2 * a for a in range(n)])


def blocks(new, old):
    """Cut two shapes of one size into the smallest runs of equal size; pairs of slices."""
    out, i, j = [], 0, 0
    while i < len(new) or j < len(old):
        i0, j0 = i, j
        i, j = min(i + 1, len(new)), min(j + 1, len(old))
        a, b = product(new[i0:i]), product(old[j0:j])
        while a != b:
            if not known(a, b):
                i, j = len(new), len(old)
                break
            if a < b:
                a, i = mul(a, new[i]), i + 1
            else:
                b, j = mul(b, old[j]), j + 1
        out.append((slice(i0, i), slice(j0, j)))
    return out


# ---- Loop nests: how the indices of a layer's iteration space are made -------------------------

class Loops:
    """Hands out ranges, and collects the guard and the ranges that get replaced by constants."""

    def __init__(self):
        self.count, self.guard, self.constants = 0, True, {}

    def range(self, size, kind="loop"):
        if known(size) and size == 1:
            return 0
        self.count += 1
        return node("range", size, attr=(self.count, kind))

    def unrolled(self, size, value, kind="loop"):
        r = self.range(size, kind)
        if not known(r):
            self.constants[r] = const(value)
        return r

    def guarded(self, index, size):
        self.guard = both(self.guard, less(index, size))
        return index


def plain(loops, shape, reduce, rng):
    return [loops.range(s) for s in shape], [loops.range(s, "reduce") for s in reduce]


def merged(loops, shape, reduce, rng):
    """One loop over the whole output, one over the whole reduction."""
    return (unflatten(loops.range(product(shape)), shape),
            unflatten(loops.range(product(reduce), "reduce"), reduce) if reduce else [])


def merged_pair(loops, shape, reduce, rng):
    """The two inner output axes share a loop, such as the pixels of an image."""
    return ([loops.range(s) for s in shape[:-2]]
            + unflatten(loops.range(product(shape[-2:])), shape[-2:]),
            [loops.range(s, "reduce") for s in reduce])


def tiled(loops, shape, reduce, rng):
    """The two inner output axes are cut into tiles; ragged tiles are guarded."""
    index = []
    for axis, s in enumerate(shape):
        t = rng.choice((4, 8, 16, 32))
        if axis < len(shape) - 2 or known(s) and s <= t:
            index.append(loops.range(s))
            continue
        i = add(mul(loops.range(ceil_div(s, t)), t), loops.range(t))
        index.append(i if known(s) and s % t == 0 else loops.guarded(i, s))
    return index, [loops.range(s, "reduce") for s in reduce]


def threads(loops, shape, reduce, rng):
    """Blocks of threads over the flat output; the reduction is cut in two."""
    total, block = product(shape), rng.choice((64, 128, 256))
    flat = add(mul(loops.range(ceil_div(total, block)), block), loops.range(block))
    if not known(total) or total % block:
        loops.guarded(flat, total)
    count = product(reduce)
    cut = gcd(count, 16) if known(count) else 1
    inner = add(mul(loops.range(div(count, cut), "reduce"), cut), loops.range(cut, "reduce"))
    return unflatten(flat, shape), unflatten(inner, reduce) if reduce else []


def lanes(loops, shape, reduce, rng):
    """As threads, each making four neighbours: the expression of one of them."""
    total, block = product(shape), rng.choice((32, 64, 128))
    flat = add(mul(loops.range(ceil_div(total, block * 4)), block * 4),
               add(mul(loops.range(block), 4), loops.unrolled(4, rng.randrange(4))))
    if not known(total) or total % (block * 4):
        loops.guarded(flat, total)
    return unflatten(flat, shape), [loops.range(s, "reduce") for s in reduce]


def unrolled(loops, shape, reduce, rng):
    """Small reduction axes unrolled, the inner output axis by four: one copy of the body."""
    index = [loops.range(s) for s in shape[:-1]]
    s = shape[-1]
    if known(s) and s % 4 == 0:
        index.append(add(mul(loops.range(s // 4), 4), loops.unrolled(4, rng.randrange(4))))
    else:
        index.append(loops.range(s))
    return index, [loops.unrolled(s, rng.randrange(s), "reduce") if known(s) and s <= 11
                   else loops.range(s, "reduce") for s in reduce]


NESTS = (plain, plain, merged, merged_pair, tiled, threads, lanes, unrolled)


def order(roots):
    """Every node below the roots, children first."""
    seen, stack = {}, [(r, False) for r in reversed(roots)]
    while stack:
        n, done = stack.pop()
        if done:
            seen.setdefault(n)
        elif n not in seen:
            stack.append((n, True))
            stack += [(a, False) for a in reversed(n.args)]
    return list(seen)


def substitute(roots, constants):
    """Replace ranges by constants, folding nothing."""
    if not constants:
        return roots
    new = dict(constants)
    for n in order(roots):
        if n not in new:
            new[n] = node(n.op, *[new[a] for a in n.args], attr=n.attr)
    return [new[r] for r in roots]


def lower(layer, nest, rng):
    """The roots of a layer's expression under a loop nest, or None where there is nothing."""
    loops = Loops()
    shape = layer.view.shape
    out, reduce = nest(loops, shape[:layer.outputs], shape[layer.outputs:], rng)
    offset, valid = layer.view.at(out + reduce)
    valid = both(loops.guard, valid)
    if known(offset) or valid is False:
        return None
    roots = [offset] if valid is True else [offset, valid]
    return substitute(roots, loops.constants)


BOOL_OPS = ("cmplt", "cmpne", "and", "or")


def print_body(roots):
    nodes = order(roots)
    # Ids say the order of the loops; the numbers are those of the ranges still there.
    ranges = sorted((n for n in nodes if n.op == "range"), key=lambda n: n.attr[0])
    variables = sorted((n for n in nodes if n.op == "variable"), key=lambda n: n.attr)
    ids = {n: i for i, n in enumerate(ranges + variables)}
    number = {n: i for i, n in enumerate(nodes)}
    lines = []
    for n in nodes:
        args = ", ".join(f"%{number[a]}" for a in n.args)
        kind = "index"
        if n.op == "const":
            args, kind = n.attr, "bool" if n.attr in ("true", "false") else "index"
        elif n.op == "range":
            args += f" {{id = {ids[n]}, kind = {n.attr[1]}}}"
        elif n.op == "variable":
            name, lo, hi = n.attr
            args = f'{{name = "{name}", id = {ids[n]}, lo = {lo}, hi = {hi}}}'
        elif n.op in BOOL_OPS:
            kind = "bool"
        lines.append(f"  %{number[n]} = {n.op} {args} : {kind}")
    lines.append("  return " + ", ".join(f"%{number[r]}" for r in roots))
    return "\n".join(lines)


def count_ops(roots):
    return sum(n.op not in ("const", "range", "variable") for n in order(roots))


# ---- Layers ------------------------------------------------------------------------------------

class Layer:
    """A view over a layer's iteration space: `outputs` output axes, then the reduction axes."""

    def __init__(self, name, view, outputs):
        self.name, self.view, self.outputs = name, view, outputs


FAMILIES = {}


def family(share):
    """Register a generator of layers; `share` is its weight in the corpus."""
    def register(fn):
        FAMILIES[fn.__name__] = (share, fn)
        return fn
    return register


def image(layout, n, c, *size):
    """An activation of logical shape (n, c, size...) in a memory layout."""
    dims = range(len(size))
    if layout == "nhwc":
        return View(n, *size, c).permute(0, len(size) + 1, *[d + 1 for d in dims])
    if layout == "blocked" and c % 16 == 0:  # channels in groups of 16, innermost
        x = View(n, c // 16, *size, 16).permute(0, 1, len(size) + 2, *[d + 2 for d in dims])
        return x.reshape(n, c, *size)
    return View(n, c, *size)


def convolve(x, cout, k, s, d, groups, chain):
    """Windows of x over (n, groups, cout/groups, out..., cin/groups, k...)."""
    n, cin, m = x.shape[0], x.shape[1], len(k)
    w = x.windows(k, s, d, chain)
    out = w.shape[2:2 + m]
    w = w.reshape(n, groups, cin // groups, *out, *k).insert(2, cout // groups)
    return w.permute(0, 1, 2, *range(4, 4 + m), 3, *range(4 + m, 4 + 2 * m)), 3 + m


def filters(n, cout, cin, k, groups, out, hwio=False):
    """The filters over the same space."""
    m = len(k)
    w = View(cout, cin // groups, *k)
    if hwio:
        w = View(*k, cin // groups, cout).permute(m + 1, m, *range(m))
    w = w.reshape(groups, cout // groups, cin // groups, *k).insert(0, n)
    for axis, size in enumerate(out):
        w = w.insert(3 + axis, size)
    return w, 3 + m


def both_ends(p):
    return [q if isinstance(q, tuple) else (q, q) for q in p]


# net, cin, cout, (h, w), kernel, stride, padding, dilation, groups
CONV2D = [
    ("resnet", 3, 64, (224, 224), (7, 7), 2, 3, 1, 1),
    ("resnet", 64, 64, (56, 56), (3, 3), 1, 1, 1, 1),
    ("resnet", 64, 128, (56, 56), (3, 3), 2, 1, 1, 1),
    ("resnet", 256, 512, (56, 56), (1, 1), 2, 0, 1, 1),
    ("resnet", 128, 128, (28, 28), (3, 3), 1, 1, 1, 1),
    ("resnet", 256, 256, (14, 14), (3, 3), 1, 1, 1, 1),
    ("resnet", 512, 512, (7, 7), (3, 3), 1, 1, 1, 1),
    ("resnet", 512, 2048, (7, 7), (1, 1), 1, 0, 1, 1),
    ("resnext", 128, 128, (56, 56), (3, 3), 1, 1, 1, 32),
    ("resnext", 512, 512, (14, 14), (3, 3), 2, 1, 1, 32),
    ("mobilenet", 3, 32, (224, 224), (3, 3), 2, 1, 1, 1),
    ("mobilenet", 32, 32, (112, 112), (3, 3), 1, 1, 1, 32),
    ("mobilenet", 96, 96, (112, 112), (3, 3), 2, 1, 1, 96),
    ("mobilenet", 144, 144, (56, 56), (3, 3), 1, 1, 1, 144),
    ("mobilenet", 384, 384, (14, 14), (3, 3), 1, 1, 1, 384),
    ("mobilenet", 576, 576, (14, 14), (3, 3), 2, 1, 1, 576),
    ("mobilenet", 960, 960, (7, 7), (3, 3), 1, 1, 1, 960),
    ("efficientnet", 144, 144, (56, 56), (5, 5), 2, (1, 2), 1, 144),
    ("efficientnet", 240, 240, (28, 28), (5, 5), 1, 2, 1, 240),
    ("efficientnet", 672, 672, (14, 14), (5, 5), 2, (1, 2), 1, 672),
    ("efficientnet", 1152, 1152, (7, 7), (5, 5), 1, 2, 1, 1152),
    ("efficientnet", 3, 32, (224, 224), (3, 3), 2, (0, 1), 1, 1),
    ("yolo", 3, 32, (640, 640), (6, 6), 2, 2, 1, 1),
    ("yolo", 32, 64, (320, 320), (3, 3), 2, 1, 1, 1),
    ("yolo", 128, 128, (80, 80), (3, 3), 1, 1, 1, 1),
    ("yolo", 256, 512, (40, 40), (3, 3), 2, 1, 1, 1),
    ("yolo", 1024, 255, (20, 20), (1, 1), 1, 0, 1, 1),
    ("unet", 1, 64, (572, 572), (3, 3), 1, 0, 1, 1),
    ("unet", 128, 128, (282, 282), (3, 3), 1, 0, 1, 1),
    ("unet", 512, 1024, (32, 32), (3, 3), 1, 0, 1, 1),
    ("diffusion", 4, 320, (64, 64), (3, 3), 1, 1, 1, 1),
    ("diffusion", 640, 640, (32, 32), (3, 3), 2, 1, 1, 1),
    ("diffusion", 128, 128, (512, 512), (3, 3), 2, (0, 1), 1, 1),
    ("vgg", 64, 128, (112, 112), (3, 3), 1, 1, 1, 1),
    ("vgg", 512, 512, (28, 28), (3, 3), 1, 1, 1, 1),
    ("alexnet", 3, 96, (227, 227), (11, 11), 4, 0, 1, 1),
    ("alexnet", 96, 256, (27, 27), (5, 5), 1, 2, 1, 2),
    ("inception", 768, 192, (17, 17), (1, 7), 1, 3, 1, 1),
    ("inception", 768, 192, (17, 17), (7, 1), 1, 3, 1, 1),
    ("convnext", 96, 96, (56, 56), (7, 7), 1, 3, 1, 96),
    ("convnext", 384, 384, (14, 14), (7, 7), 1, 3, 1, 384),
    ("convnext", 96, 192, (56, 56), (2, 2), 2, 0, 1, 1),
    ("deeplab", 2048, 256, (33, 33), (3, 3), 1, 6, 6, 1),
    ("deeplab", 2048, 256, (33, 33), (3, 3), 1, 12, 12, 1),
    ("deeplab", 2048, 256, (33, 33), (3, 3), 1, 18, 18, 1),
    ("drn", 512, 512, (28, 28), (3, 3), 1, 2, 2, 1),
    ("crnn", 64, 128, (16, 50), (3, 3), (2, 1), 1, 1, 1),
    ("whisper", 1, 32, (80, 3000), (3, 3), 2, 1, 1, 1),
]


def conv2d_setup(row):
    net, cin, cout, size, k, s, p, d, g = row
    s = s if isinstance(s, tuple) else (s, s)
    p = [p if isinstance(p, tuple) else (p * (kk > 1),) * 2 for kk in k]
    return net, cin, cout, size, k, s, p, (d, d), g


@family(14)
def conv2d(rng):
    for row, n, chain in itertools.product(CONV2D, (1, 8, 32), (False, True)):
        net, cin, cout, size, k, s, p, d, g = conv2d_setup(row)
        x = image(rng.choice(("nchw", "nhwc", "blocked")), n, cin, *size).pad(None, None, *p)
        name = f"{net}_{k[0]}x{k[1]}" + ("_chain" if chain else "")
        yield Layer(name, *convolve(x, cout, k, s, d, g, chain))


@family(2)
def conv2d_filters(rng):
    for row, n, hwio in itertools.product(CONV2D, (1, 16), (False, True)):
        net, cin, cout, size, k, s, p, d, g = conv2d_setup(row)
        out = View(1, *size).pad(None, *p).windows(k, s, d, False).shape[1:3]
        yield Layer(net, *filters(n, cout, cin, k, g, out, hwio))


@family(4)
def conv2d_filter_gradient(rng):
    """The gradient of the filters: windows as many as the kernel is wide, as wide as the output."""
    for row, n, chain in itertools.product(CONV2D, (8, 32), (False, True)):
        net, cin, cout, size, k, s, p, d, g = conv2d_setup(row)
        x = image(rng.choice(("nchw", "nhwc")), n, cin, *size).pad(None, None, *p)
        out = x.windows(k, s, d, False).shape[2:4]
        w = x.windows(out, d, s, chain)
        w = w.shrink(None, None, (0, k[0]), (0, k[1]), None, None)
        w = w.reshape(n, g, cin // g, *k, *out).insert(2, cout // g)
        yield Layer(net, w.permute(1, 2, 3, 4, 5, 0, 6, 7), 5)


CONV1D = [
    ("wavenet", 32, 64, 16000, 2, 1, dil, 1, True) for dil in (1, 2, 4, 16, 64, 512)
] + [
    ("tcn", 64, 64, 1024, 3, 1, dil, 1, True) for dil in (1, 2, 8, 32)
] + [
    ("whisper", 80, 384, 3000, 3, 1, 1, 1, False), ("whisper", 384, 384, 3000, 3, 2, 1, 1, False),
    ("mamba", 1536, 1536, 2048, 4, 1, 1, 1536, True),
    ("wav2vec", 1, 512, 16000, 10, 5, 1, 1, False),
    ("wav2vec", 512, 512, 3199, 3, 2, 1, 1, False),
    ("wav2vec", 768, 768, 49, 128, 1, 1, 16, False),
    ("hifigan", 256, 256, 800, 11, 1, 5, 1, False), ("hifigan", 512, 512, 100, 7, 1, 3, 1, False),
    ("encodec", 32, 64, 24000, 4, 2, 1, 1, True),
    ("conformer", 512, 512, 400, 31, 1, 1, 512, False),
    ("vits", 192, 384, 400, 5, 1, 1, 1, False), ("textcnn", 300, 100, 56, 5, 1, 1, 1, False),
]


@family(6)
def conv1d(rng):
    for row, n, chain in itertools.product(CONV1D, (1, 4, 16), (False, True)):
        net, cin, cout, size, k, s, d, g, causal = row
        reach = (k - 1) * d
        x = image(rng.choice(("nchw", "nhwc")), n, cin, size)
        x = x.pad(None, None, (reach, 0) if causal else (reach // 2, reach - reach // 2))
        yield Layer(net, *convolve(x, cout, (k,), (s,), (d,), g, chain))


CONV3D = [
    ("c3d", 3, 64, (16, 112, 112), (3, 3, 3), (1, 1, 1), (1, 1, 1)),
    ("c3d", 256, 512, (4, 14, 14), (3, 3, 3), (1, 1, 1), (1, 1, 1)),
    ("i3d", 3, 64, (64, 224, 224), (7, 7, 7), (2, 2, 2), (3, 3, 3)),
    ("r2plus1d", 64, 144, (16, 56, 56), (1, 3, 3), (1, 1, 1), (0, 1, 1)),
    ("r2plus1d", 144, 64, (16, 56, 56), (3, 1, 1), (1, 1, 1), (1, 0, 0)),
    ("slowfast", 8, 16, (32, 56, 56), (5, 1, 1), (4, 1, 1), (2, 0, 0)),
    ("unet3d", 32, 64, (64, 64, 64), (3, 3, 3), (2, 2, 2), (1, 1, 1)),
    ("vae3d", 128, 128, (9, 60, 90), (3, 3, 3), (1, 1, 1), ((2, 0), 1, 1)),
]


@family(3)
def conv3d(rng):
    for row, n, layout, chain in itertools.product(CONV3D, (1, 2), ("nchw", "nhwc"), (0, 1)):
        net, cin, cout, size, k, s, p = row
        x = image(layout, n, cin, *size).pad(None, None, *both_ends(p))
        yield Layer(net, *convolve(x, cout, k, s, (1, 1, 1), 1, chain))


def spread(x, axis, step):
    """step - 1 zeros between neighbours along an axis: reshape, pad, reshape, shrink."""
    n, head, tail = x.shape[axis], x.shape[:axis], x.shape[axis + 1:]
    x = x.reshape(*head, n, 1, *tail).part(axis + 1, 0, step - 1).reshape(*head, n * step, *tail)
    return x.take(axis, 0, n * step - (step - 1))


# net, cin, cout, (h, w), kernel, stride, padding, output padding
TRANSPOSED = [
    ("dcgan", 1024, 512, (4, 4), 4, 2, 1, 0), ("dcgan", 256, 128, (16, 16), 4, 2, 1, 0),
    ("dcgan", 64, 3, (32, 32), 4, 2, 1, 0), ("unet", 1024, 512, (28, 28), 2, 2, 0, 0),
    ("unet", 128, 64, (196, 196), 2, 2, 0, 0), ("fcn", 21, 21, (16, 16), 32, 16, 8, 0),
    ("fcn", 21, 21, (34, 34), 4, 2, 1, 0), ("pix2pix", 512, 256, (32, 32), 3, 2, 1, 1),
    ("sam", 256, 64, (64, 64), 2, 2, 0, 0), ("resnet", 128, 64, (28, 28), 3, 2, 1, 1),
    ("resnet", 64, 3, (112, 112), 7, 2, 3, 1), ("vgg", 128, 64, (112, 112), 3, 1, 1, 0),
]


@family(6)
def conv2d_transposed(rng):
    """Also what the gradient of a strided convolution with respect to its input looks like."""
    for row, n, chain in itertools.product(TRANSPOSED, (1, 8), (False, True)):
        net, cin, cout, size, k, s, p, extra = row
        x = image(rng.choice(("nchw", "nhwc")), n, cin, *size)
        for axis in (2, 3):
            x = spread(x, axis, s) if s > 1 else x
        edge = (k - 1 - p, k - 1 - p + extra)
        x = x.pad(None, None, edge, edge)
        yield Layer(net, *convolve(x, cout, (k, k), (1, 1), (1, 1), 1, chain))
        w = View(cin, cout, k, k).flip(2, 3).permute(1, 0, 2, 3)
        w = w.insert(0, n).insert(2, x.shape[2] - k + 1).insert(3, x.shape[3] - k + 1)
        yield Layer(net + "_filters", w, 4)


@family(2)
def conv1d_transposed(rng):
    rows = [("hifigan", 512, 256, 100, 16, 8, 4), ("hifigan", 128, 64, 6400, 4, 2, 1),
            ("encodec", 512, 256, 75, 10, 5, 0), ("waveglow", 80, 80, 63, 1024, 256, 0)]
    for (net, cin, cout, size, k, s, p), n, chain in itertools.product(rows, (1, 4), (0, 1)):
        x = spread(image(rng.choice(("nchw", "nhwc")), n, cin, size), 2, s)
        x = x.pad(None, None, (k - 1 - p, k - 1 - p))
        yield Layer(net, *convolve(x, cout, (k,), (1,), (1,), 1, chain))


@family(6)
def pool(rng):
    # net, c, (h, w), kernel, stride, padding, ceil mode
    rows = [
        ("resnet", 64, (112, 112), 3, 2, 1, False), ("resnet", 2048, (7, 7), 7, 7, 0, False),
        ("vgg", 64, (224, 224), 2, 2, 0, False), ("googlenet", 64, (112, 112), 3, 2, 0, True),
        ("googlenet", 480, (28, 28), 3, 2, 0, True), ("googlenet", 192, (28, 28), 3, 1, 1, True),
        ("squeezenet", 96, (109, 109), 3, 2, 0, True), ("alexnet", 96, (55, 55), 3, 2, 0, False),
        ("yolo_spp", 512, (20, 20), 5, 1, 2, False), ("yolo_spp", 512, (20, 20), 13, 1, 6, False),
        ("densenet", 256, (56, 56), 2, 2, 0, False), ("unet", 128, (280, 280), 2, 2, 0, False),
        ("inception", 192, (35, 35), 3, 1, 1, False), ("poolformer", 64, (56, 56), 3, 1, 1, False),
        ("adaptive", 512, (14, 14), 2, 2, 0, False), ("lenet", 6, (28, 28), 2, 2, 0, False),
        ("ssd", 256, (75, 75), 2, 2, 0, True), ("cspnet", 512, (13, 13), 9, 1, 4, False),
    ]
    for row, n, chain in itertools.product(rows, (1, 8, 64), (False, True)):
        net, c, size, k, s, p, ceil = row
        pads = [(p, p + (-(i + 2 * p - k) % s if ceil else 0)) for i in size]
        x = image(rng.choice(("nchw", "nhwc")), n, c, *size).pad(None, None, *pads)
        yield Layer(net, x.windows((k, k), (s, s), (1, 1), chain), 4)


HEADS = [  # net, batch, sequence, heads, key heads, head size
    ("bert", 8, 128, 12, 12, 64), ("bert", 1, 512, 16, 16, 64), ("gpt2", 1, 1024, 12, 12, 64),
    ("gpt2", 4, 1024, 25, 25, 64), ("llama", 1, 4096, 32, 32, 128), ("llama", 2, 2048, 32, 8, 128),
    ("qwen", 1, 2048, 28, 4, 128), ("mistral", 1, 4096, 32, 8, 128), ("vit", 16, 197, 12, 12, 64),
    ("whisper", 1, 1500, 6, 6, 64), ("falcon", 1, 2048, 71, 1, 64), ("clip", 32, 77, 8, 8, 64),
    ("diffusion", 2, 4096, 8, 8, 40), ("dit", 4, 256, 16, 16, 72), ("gemma", 1, 2048, 8, 1, 256),
]


def fused_qkv(b, s, h, kv, d, which, split):
    """Queries, keys or values (which = 0, 1, 2) as (b, heads, s, d) out of one projection."""
    heads = kv if which else h
    if split and h == kv:  # reshape to (3, heads, d), permute, select
        x = View(b, s, 3 * h * d).reshape(b, s, 3, h, d).permute(2, 0, 3, 1, 4)
        return x.take(0, which, which + 1).reshape(b, h, s, d)
    lo = (0, h, h + kv)[which] * d
    x = View(b, s, (h + 2 * kv) * d).take(2, lo, lo + heads * d)
    return x.reshape(b, s, heads, d).permute(0, 2, 1, 3)


def repeat_heads(x, times):
    b, kv, s, d = x.shape
    if times == 1:
        return x
    return x.reshape(b, kv, 1, s, d).expand(b, kv, times, s, d).reshape(b, kv * times, s, d)


@family(12)
def attention(rng):
    for (net, b, s, h, kv, d), split in itertools.product(HEADS, (False, True)):
        q, k, v = (fused_qkv(b, s, h, kv, d, i, split) for i in range(3))
        k, v = repeat_heads(k, h // kv), repeat_heads(v, h // kv)
        yield Layer(net + "_q", q.insert(3, s), 4)
        yield Layer(net + "_k", k.insert(2, s), 4)
        yield Layer(net + "_v", v.insert(2, s).permute(0, 1, 2, 4, 3), 4)
        causal = View(b, h, s, s).mask(lambda i: less(i[3], add(i[2], 1)))
        yield Layer(net + "_softmax", causal, 3)
        near = rng.choice((64, 128, 256))
        window = View(b, h, s, s).mask(lambda i: both(
            less(i[3], add(i[2], 1)), less(sub(i[2], near), i[3])))
        yield Layer(net + "_window", window, 3)
        prefix = k.insert(2, s).mask(lambda i: either(
            less(i[3], near), less(i[3], add(i[2], 1))))
        yield Layer(net + "_prefix", prefix, 4)
        same = View(b, h, s, s).mask(lambda i: equal(div(i[2], near), div(i[3], near)))
        yield Layer(net + "_block", same, 3)
        heads = View(b, h, s, d).permute(0, 2, 1, 3).reshape(b, s, h * d)
        yield Layer(net + "_merge", heads.insert(2, h * d), 3)
        table = View(2 * s - 1, h)  # relative position bias
        bias = table.step((b, h, s, s), lambda i: ([add(sub(i[3], i[2]), s - 1), i[1]], True))
        yield Layer(net + "_bias", bias, 4)


@family(4)
def rotary(rng):
    for (net, b, s, h, kv, d), pairs in itertools.product(HEADS, (False, True)):
        for which in (0, 1):
            x = fused_qkv(b, s, h, kv, d, which, False)
            n = x.shape[1]
            if pairs:  # neighbours turn together
                x = x.reshape(b, n, s, d // 2, 2)
                for half in (0, 1):
                    y = x.take(4, half, half + 1).part(4, 1 - half, half)
                    yield Layer(f"{net}_pairs", y.reshape(b, n, s, d), 4)
                table = View(2 * s, d // 2, 2).take(0, 0, s).take(2, 1, 2).reshape(1, 1, s, d // 2)
                yield Layer(f"{net}_sines", table.expand(b, n, s, d // 2), 4)
            else:  # the halves turn together
                yield Layer(f"{net}_low", x.take(3, d // 2, d).part(3, 0, d - d // 2), 4)
                yield Layer(f"{net}_high", x.take(3, 0, d // 2).part(3, d // 2, 0), 4)


@family(8)
def kv_cache(rng):
    """Decoding: the cache is read up to a position only known at run time."""
    for (net, b, s, h, kv, d), t in itertools.product(HEADS, (1, 16)):
        pos = variable("pos", 0 if t > 1 else 1, s - t)
        end = add(pos, t)
        for packed in (False, True):
            cache = View(2, b, s, kv, d) if packed else View(b, kv, s, d)

            def read(which):
                if packed:
                    x = cache.take(0, which, which + 1).take(2, 0, end)
                    x = x.reshape(b, end, kv, d).permute(0, 2, 1, 3)
                else:
                    x = cache.take(2, 0, end)
                return repeat_heads(x, h // kv)
            yield Layer(net + "_keys", read(0).insert(2, t), 4)
            yield Layer(net + "_values", read(1).insert(2, t).permute(0, 1, 2, 4, 3), 4)
            masked = read(0).insert(2, t).mask(lambda i: less(i[3], add(add(i[2], pos), 1)))
            yield Layer(net + "_masked", masked, 4)
            axis = 2
            new = cache.take(axis, pos, end)
            yield Layer(net + "_write", new, len(new.shape))
        scores = View(b, h, t, end)
        yield Layer(net + "_scores", scores.mask(lambda i: less(i[3], add(add(i[2], pos), 1))), 3)
        yield Layer(net + "_weights", scores.reshape(b * h, t, end).insert(2, d), 3)
        ring = View(b, kv, 1024, d).gather(2, t, lambda i: mod(add(i, pos), 1024))
        yield Layer(net + "_ring", ring, 4)
        turn = View(s, d // 2, 2).take(0, pos, end).reshape(1, 1, t, d).expand(b, h, t, d)
        yield Layer(net + "_rotary", turn, 4)
        page = 16  # pages of 16 positions, kept head by head
        paged = View(b, s // page, kv, page, d).permute(0, 2, 1, 3, 4)
        paged = paged.reshape(b, kv, s // page * page, d).take(2, 0, end)
        yield Layer(net + "_paged", repeat_heads(paged, h // kv).insert(2, t), 4)


@family(4)
def dynamic_shape(rng):
    """Layers whose batch or sequence length is only known at run time."""
    for net, b, s, h, kv, d in HEADS:
        seq = variable("seq", 1, s)
        batch = variable("batch", 1, 64)
        heads = View(b, seq, h * d).reshape(b, seq, h, d).permute(0, 2, 1, 3)
        yield Layer(net + "_split", heads, 4)
        merged_heads = View(b, h, seq, d).permute(0, 2, 1, 3)
        yield Layer(net + "_merge", merged_heads.reshape(b, seq, h * d), 3)
        rows = merged_heads.reshape(mul(b, seq), h * d)
        yield Layer(net + "_rows", rows.insert(1, 4 * h * d), 2)
        yield Layer(net + "_causal", View(b, h, seq, seq)
                    .mask(lambda i: less(i[3], add(i[2], 1))), 3)
        yield Layer(net + "_batch", View(batch, s, 3, h, d).take(2, 1, 2)
                    .reshape(batch, s, h, d).permute(0, 2, 3, 1), 4)
        yield Layer(net + "_flat", View(batch, s, h * d).reshape(mul(batch, s), h, d)
                    .reshape(batch, s, h, d).permute(0, 2, 1, 3), 4)
        yield Layer(net + "_shift", View(b, seq, h * d).pad(None, (1, 0), None)
                    .shrink(None, (0, seq), None), 3)
    for row in CONV2D[:24]:
        net, cin, cout, size, k, s, p, d, g = conv2d_setup(row)
        batch = variable("batch", 1, 128)
        x = View(batch, cin, *size).pad(None, None, *p)
        yield Layer(net, *convolve(x, cout, k, s, d, g, False))


@family(5)
def layout(rng):
    """Copies from one memory layout to another."""
    shapes = [(1, 64, 56, 56), (8, 3, 224, 224), (32, 2048, 7, 7), (2, 320, 64, 64),
              (4, 96, 55, 55)]
    for n, c, h, w in shapes:
        for name, x in (
            ("to_nhwc", View(n, c, h, w).permute(0, 2, 3, 1)),
            ("to_nchw", View(n, h, w, c).permute(0, 3, 1, 2)),
            ("flat_nhwc", View(n, c, h, w).permute(0, 2, 3, 1).reshape(n * h * w, c)),
            ("flat_nchw", View(n, h, w, c).permute(0, 3, 1, 2).reshape(n, c * h * w)),
            ("tokens", View(n, c, h * w).permute(0, 2, 1).reshape(n, h, w, c)),
            ("map", View(n, h * w, c).permute(0, 2, 1).reshape(n, c, h, w)),
            ("pitched", View(n, h, w * c, pitch=w * c + 32).reshape(n, h, w, c)
             .permute(0, 3, 1, 2)),
            ("texture", View(n, h, -(-c // 4), w, 4).permute(0, 2, 4, 1, 3)
             .reshape(n, -(-c // 4) * 4, h, w).take(1, 0, c)),
            ("transpose", View(n, c, h, w).permute(3, 2, 1, 0)),
            ("batch_last", View(n, c, h, w).permute(1, 2, 3, 0).reshape(c * h, w * n)),
        ):
            yield Layer(name, x, len(x.shape))
        if c % 32 == 0:
            x = image("blocked", n, c, h, w)
            yield Layer("unblock", x, 4)
            x = View(n, c, h, w).reshape(n, c // 32, 32, h, w).permute(0, 1, 3, 4, 2)
            yield Layer("block", x, 5)
            yield Layer("reblock", image("blocked", n, c, h, w).reshape(n, c // 32, 32, h, w)
                        .permute(0, 1, 3, 4, 2), 5)


@family(5)
def concatenate(rng):
    rows = [
        ("densenet", 8, (64, 32, 32, 32), (56, 56)), ("densenet", 8, (512, 32), (14, 14)),
        ("googlenet", 4, (64, 128, 32, 32), (28, 28)), ("unet", 2, (256, 256), (104, 104)),
        ("yolo", 4, (256, 256, 512), (40, 40)), ("squeezenet", 4, (64, 64), (55, 55)),
        ("spp", 2, (512, 512, 512, 512), (20, 20)),
    ]
    for (net, batch, parts, size), many, layout in itertools.product(
            rows, (False, True), ("nchw", "nhwc")):
        n, total = batch if many else 1, sum(parts)
        for i, c in enumerate(parts):
            x = image(layout, n, c, *size).part(1, sum(parts[:i]), sum(parts[i + 1:]))
            yield Layer(net, x, 4)
            yield Layer(net + "_1x1", x.insert(1, 128).permute(0, 1, 3, 4, 2), 4)
            w = x.pad(None, None, (1, 1), (1, 1)).windows((3, 3), (1, 1), (1, 1), False)
            yield Layer(net + "_3x3", w.insert(1, 128).permute(0, 1, 3, 4, 2, 5, 6), 4)
            if total % 64 == 0:
                yield Layer(net + "_norm", x.reshape(n, 32, -1), 2)


@family(5)
def shuffle(rng):
    """Pixel shuffles, channel shuffles, focus and reorganisation layers."""
    for net, n, c, h, w, r in (("espcn", 1, 3, 180, 320, 3), ("edsr", 4, 64, 48, 48, 2),
                               ("esrgan", 1, 64, 128, 128, 4), ("swinir", 1, 3, 64, 64, 4),
                               ("focus", 8, 3, 640, 640, 2), ("reorg", 1, 64, 26, 26, 2)):
        up = View(n, c * r * r, h, w).reshape(n, c, r, r, h, w).permute(0, 1, 4, 2, 5, 3)
        up = up.reshape(n, c, h * r, w * r)
        yield Layer(net + "_up", up, 4)
        k3 = up.pad(None, None, (1, 1), (1, 1)).windows((3, 3), (1, 1), (1, 1), False)
        yield Layer(net + "_up_conv", k3.insert(1, 64).permute(0, 1, 3, 4, 2, 5, 6), 4)
        h, w = h // r * r, w // r * r
        down = View(n, c, h, w).reshape(n, c, h // r, r, w // r, r).permute(0, 1, 3, 5, 2, 4)
        down = down.reshape(n, c * r * r, h // r, w // r)
        yield Layer(net + "_down", down, 4)
        k3 = down.pad(None, None, (1, 1), (1, 1)).windows((3, 3), (1, 1), (1, 1), False)
        yield Layer(net + "_down_conv", k3.insert(1, 64).permute(0, 1, 3, 4, 2, 5, 6), 4)
        for i, j in ((0, 1), (1, 0), (1, 1)):  # every r-th pixel, one operand of a concatenation
            x = View(n, c, h, w).take(2, i, h).take(3, j, w).every(2, r).every(3, r)
            at = (i * r + j) * c
            yield Layer(net + "_slice", x.part(1, at, c * r * r - c - at), 4)
    for g, c, h in ((3, 240, 28), (2, 116, 28), (2, 232, 14), (8, 384, 28), (4, 544, 7)):
        for n in (1, 16):
            x = View(n, c, h, h).reshape(n, g, c // g, h, h).permute(0, 2, 1, 3, 4)
            x = x.reshape(n, c, h, h)
            yield Layer("channels", x, 4)
            w = x.pad(None, None, (1, 1), (1, 1)).windows((3, 3), (2, 2), (1, 1), False)
            yield Layer("channels_conv", w, 4)
            yield Layer("channels_half", x.take(1, c // 2, c).insert(1, c // 2)
                        .permute(0, 1, 3, 4, 2), 4)


@family(4)
def flips(rng):
    for n, c, h, w in ((8, 3, 224, 224), (64, 3, 32, 32), (1, 1, 512, 512), (2, 64, 100, 80)):
        for layout in ("nchw", "nhwc"):
            x = image(layout, n, c, h, w)
            yield Layer("mirror", x.flip(3), 4)
            yield Layer("turn", x.flip(2, 3), 4)
            yield Layer("rotate", x.permute(0, 1, 3, 2).flip(2), 4)
            yield Layer("mirror_crop", x.flip(3).take(2, 4, h - 4).take(3, 2, w - 6), 4)
            p = x.pad(None, None, (4, 4), (4, 4)).take(2, 3, h + 3).take(3, 5, w + 5).flip(3)
            yield Layer("augment", p, 4)
            yield Layer("mirror_patches", x.flip(3).reshape(n, c, h // 4, 4, w // 4, 4)
                        .permute(0, 2, 4, 1, 3, 5).reshape(n, h * w // 16, c * 16), 3)
            for edge in (1, 3):  # the left border of a reflection
                r = x.take(3, 1, edge + 1).flip(3).part(3, 0, w + edge)
                yield Layer("reflect", r, 4)
    for s, d in ((512, 256), (1000, 512), (77, 768)):
        back = View(4, s, d).flip(1)
        yield Layer("backward_rnn", back.reshape(4, s, 4, d // 4).take(2, 1, 2), 4)
        yield Layer("backward_scan", back.pad(None, (s - 1, 0), None).permute(0, 2, 1)
                    .windows((s,), (1,), (1,), False), 3)
    for k in (8, 10, 12):  # stages of a bitonic sort
        for stage in range(2, k, 2):
            x = View(16, 2 ** k).reshape(16, 2 ** (k - stage), 2, 2 ** (stage - 1)).flip(3)
            yield Layer("bitonic", x.take(2, 1, 2).reshape(16, 2 ** (k - 1)), 2)


@family(6)
def im2col(rng):
    """The matrix of a convolution's windows, rows and columns each one loop."""
    for row, n, chain in itertools.product(CONV2D, (1, 4), (False, True)):
        net, cin, cout, size, k, s, p, d, g = conv2d_setup(row)
        if g > 1 or k == (1, 1):
            continue
        x = image(rng.choice(("nchw", "nhwc")), n, cin, *size).pad(None, None, *p)
        w = x.windows(k, s, d, chain)
        o = w.shape[2:4]
        w = w.permute(0, 2, 3, 1, 4, 5) if rng.random() < 0.5 else w.permute(0, 2, 3, 4, 5, 1)
        w = w.reshape(n * o[0] * o[1], cin * k[0] * k[1])
        yield Layer(net, w.insert(1, cout), 2)
        yield Layer(net + "_matrix", w, 2)


@family(6)
def swin(rng):
    """Window partition, with and without the cyclic shift, and back."""
    for net, n, h, c, win, heads in (("swin_t", 1, 56, 96, 7, 3), ("swin_t", 8, 28, 192, 7, 6),
                                     ("swin_t", 8, 14, 384, 7, 12), ("swin_b", 2, 96, 128, 12, 4),
                                     ("swin_b", 1, 24, 512, 12, 16), ("sam", 1, 70, 768, 14, 12)):
        side, half = h // win, win // 2

        def partition(x):
            x = x.reshape(n, side, win, side, win, c).permute(0, 1, 3, 2, 4, 5)
            return x.reshape(n * side * side, win * win, c)

        def restore(x):
            x = x.reshape(n, side, side, win, win, c).permute(0, 1, 3, 2, 4, 5)
            return x.reshape(n, h, h, c)

        def roll(x, by):  # the two slices of a cyclic shift, as operands of a concatenation
            low = x.take(1, by, h).part(1, 0, by)
            high = x.take(2, 0, by).part(2, h - by, 0)
            return low.take(2, by, h).part(2, 0, by), high
        x = View(n, h, h, c)
        whole = x
        for axis in (1, 2):
            whole = whole.gather(axis, h, lambda i: mod(add(i, half), h))
        for name, y in (("plain", x), ("rolled", roll(x, half)[0]), ("edge", roll(x, half)[1]),
                        ("cyclic", whole)):
            w = partition(y)
            yield Layer(f"{net}_{name}", w, 3)
            yield Layer(f"{net}_{name}_project", w.insert(2, 3 * c), 3)
            back = restore(View(n * side * side, win * win, c))
            y = back if name == "plain" else roll(back, h - half)[name == "edge"]
            yield Layer(f"{net}_{name}_back", y, 4)
            yield Layer(f"{net}_{name}_norm", y.reshape(n, h * h, c), 2)
        d = c // heads
        qkv = View(n * side * side, win * win, 3, heads, d).permute(2, 0, 3, 1, 4)
        for i in range(3):
            yield Layer(net + "_heads", qkv.take(0, i, i + 1)
                        .reshape(n * side * side, heads, win * win, d).insert(3, win * win), 4)
        out = View(n * side * side, heads, win * win, d).permute(0, 2, 1, 3)
        yield Layer(net + "_out", restore(out.reshape(n * side * side, win * win, c)), 4)
        for i, j in ((0, 1), (1, 0)):  # patch merging
            y = x.take(1, i, h).take(2, j, h).every(1, 2).every(2, 2)
            yield Layer(net + "_downsample", y.part(3, (i + 2 * j) * c, (3 - i - 2 * j) * c), 4)


@family(5)
def patches(rng):
    for net, n, c, size, p, dim in (("vit", 1, 3, 224, 16, 768), ("vit", 32, 3, 224, 32, 1024),
                                    ("clip", 8, 3, 224, 14, 1024), ("dino", 4, 3, 518, 14, 384),
                                    ("swin", 8, 3, 224, 4, 96), ("mae", 16, 3, 224, 16, 768),
                                    ("dit", 4, 4, 32, 2, 1152), ("mixer", 1, 3, 224, 16, 512),
                                    ("segformer", 1, 3, 512, 4, 64)):
        side = size // p
        for layout in ("nchw", "nhwc"):
            x = image(layout, n, c, size, size).reshape(n, c, side, p, side, p)
            rows = x.permute(0, 2, 4, 3, 5, 1).reshape(n, side * side, p * p * c)
            yield Layer(net + "_rows", rows, 3)
            yield Layer(net + "_embed", rows.insert(2, dim), 3)
            cls = rows.pad(None, (1, 0), None)
            yield Layer(net + "_class_token", cls.insert(2, dim), 3)
            for chain in (False, True):
                y = image(layout, n, c, size, size).windows((p, p), (p, p), (1, 1), chain)
                y = y.reshape(n, c, side * side, p, p).permute(0, 2, 1, 3, 4).insert(2, dim)
                yield Layer(net + "_windows", y, 3)
        back = View(n, side * side, p * p * c).reshape(n, side, side, p, p, c)
        yield Layer(net + "_back", back.permute(0, 5, 1, 3, 2, 4).reshape(n, c, size, size), 4)
        tokens = View(n, side * side + 1, dim).take(1, 1, side * side + 1)
        feature = tokens.permute(0, 2, 1).reshape(n, dim, side, side)
        yield Layer(net + "_feature", feature, 4)
        w = feature.pad(None, None, (1, 1), (1, 1)).windows((3, 3), (1, 1), (1, 1), False)
        yield Layer(net + "_feature_conv", w, 4)


@family(5)
def matmul(rng):
    rows = [("llama", 1, 1, 4096, 11008), ("bert", 8, 128, 768, 3072), ("fc", 32, 1, 25088, 4096),
            ("gpt2", 4, 1024, 768, 50257), ("lstm", 1, 64, 512, 2048), ("moe", 8, 512, 1024, 2816),
            ("bert", 8, 384, 1024, 4096), ("score", 12, 197, 64, 197)]
    for net, b, m, k, n in rows:
        for swap_a, swap_b in itertools.product((False, True), repeat=2):
            a = View(b, k, m).permute(0, 2, 1) if swap_a else View(b, m, k)
            w = View(n, k).permute(1, 0) if swap_b else View(k, n)
            yield Layer(net + "_left", a.insert(2, n), 3)
            yield Layer(net + "_right", w.permute(1, 0).insert(0, m).insert(0, b), 3)
            yield Layer(net + "_rows", a.reshape(b * m, k).insert(1, n), 2)
            if m * b % 16 == 0 and k % 16 == 0:  # sixteen by sixteen tiles for matrix units
                t = a.reshape(b * m // 16, 16, k // 16, 16).permute(0, 2, 1, 3)
                yield Layer(net + "_tiles", t, 4)
                packed = View(b * m // 16, k // 16, 16, 16).permute(0, 2, 1, 3)
                yield Layer(net + "_packed", packed.reshape(b * m, k).insert(1, n), 2)
            if k % 64 == 0:  # blocks of quantised weights: 2 bytes of scale, 16 of nibbles
                q = View(n, k // 32, 18).take(2, 2, 18).insert(2, 2).reshape(n, k)
                yield Layer(net + "_q4", q.insert(0, b * m), 2)
                scale = View(n, k // 32, 18).take(2, 0, 1).expand(n, k // 32, 32).reshape(n, k)
                yield Layer(net + "_q4_scale", scale.insert(0, b * m), 2)
                pairs = View(n, k // 2).reshape(n, k // 2, 1).expand(n, k // 2, 2).reshape(n, k)
                yield Layer(net + "_int4", pairs.insert(0, b * m), 2)
            for gate in range(4):
                if n % 4 == 0:
                    g = View(b, m, n).reshape(b, m, 4, n // 4).take(2, gate, gate + 1)
                    yield Layer(net + "_gate", g.reshape(b, m, n // 4), 3)


@family(4)
def normalise(rng):
    for n, c, h, w, g in ((1, 320, 64, 64, 32), (2, 1280, 16, 16, 32), (4, 512, 28, 28, 32),
                          (1, 128, 512, 512, 32), (8, 64, 56, 56, 64), (2, 96, 55, 55, 8)):
        for layout in ("nchw", "nhwc", "blocked"):
            x = image(layout, n, c, h, w)
            yield Layer("group", x.reshape(n, g, c // g * h * w), 2)
            yield Layer("group_split", x.reshape(n, g, c // g, h, w), 2)
            yield Layer("batch", x.permute(1, 0, 2, 3), 1)
            yield Layer("batch_flat", x.permute(1, 0, 2, 3).reshape(c, n * h * w), 1)
            yield Layer("layer", x.permute(0, 2, 3, 1).reshape(n * h * w, c), 1)
            stats = View(n, g).reshape(n, g, 1).expand(n, g, c // g).reshape(n, c, 1, 1)
            yield Layer("group_stats", stats.expand(n, c, h, w), 4)
            two = x.reshape(n, g, -1).reshape(n * g, 16, -1) if c // g * h * w % 16 == 0 else x
            yield Layer("two_stage", two, 2)


@family(4)
def strided(rng):
    for net, shape, steps in (("audio", (4, 2, 48000), (1, 1, 3)),
                              ("frames", (2, 64, 3, 112, 112), (1, 8, 1, 1, 1)),
                              ("skip", (8, 256, 56, 56), (1, 1, 2, 2)),
                              ("subsample", (1, 3, 1080, 1920), (1, 1, 4, 4)),
                              ("odd", (4, 96, 55, 55), (1, 1, 2, 2)),
                              ("dilated", (1, 4096, 1024), (1, 4, 1)),
                              ("heads", (2, 1024, 24, 64), (1, 1, 3, 1))):
        x = View(*shape)
        for axis, step in enumerate(steps):
            x = x.every(axis, step) if step > 1 else x
        n = len(shape)
        yield Layer(net, x, n)
        yield Layer(net + "_flip", x.flip(n - 1), n)
        yield Layer(net + "_swap", x.permute(*range(n - 2), n - 1, n - 2), n)
        yield Layer(net + "_rows", x.reshape(-1, x.shape[-1]), 2)
        y = View(*shape)
        for axis, step in enumerate(steps):
            if step > 1:
                size = -(-(shape[axis] - 1) // step)
                y = y.gather(axis, size, lambda i, step=step: add(mul(i, step), 1))
        yield Layer(net + "_offset", y, n)
        yield Layer(net + "_offset_rows", y.reshape(-1, y.shape[-1]), 2)
        z = View(*shape)
        for axis, step in enumerate(steps):
            z = spread(z, axis, step) if step > 1 else z
        yield Layer(net + "_spread", z, n)
    for hop, win, n in ((160, 400, 16000), (256, 1024, 22050), (512, 2048, 44100)):  # spectrograms
        for chain in (False, True):
            x = View(2, n).pad(None, (win // 2, win // 2)).windows((win,), (hop,), (1,), chain)
            yield Layer("frames", x.insert(2, win // 2 + 1), 3)


@family(5)
def resize(rng):
    """Upsampling and padding by repeating edges."""
    for net, n, c, h, w, r in (("unet", 1, 256, 32, 32, 2),
                               ("fpn", 1, 256, 25, 25, 2),
                               ("yolo", 4, 256, 20, 20, 2),
                               ("vae", 1, 512, 64, 64, 2),
                               ("stylegan", 4, 512, 8, 8, 2),
                               ("fpn", 2, 256, 50, 68, 4)):
        for layout in ("nchw", "nhwc"):
            x = image(layout, n, c, h, w)
            up = x.reshape(n, c, h, 1, w, 1).expand(n, c, h, r, w, r).reshape(n, c, h * r, w * r)
            yield Layer(net + "_nearest", up, 4)
            k3 = up.pad(None, None, (1, 1), (1, 1))
            k3 = k3.windows((3, 3), (1, 1), (1, 1), rng.random() < 0.5)
            yield Layer(net + "_nearest_conv", k3.insert(1, c // 2).permute(0, 1, 3, 4, 2, 5, 6), 4)
            cat = up.part(1, 0, c // 2).pad(None, None, (1, 1), (1, 1))
            k3 = cat.windows((3, 3), (1, 1), (1, 1), False)
            yield Layer(net + "_skip_conv", k3.insert(1, c // 2).permute(0, 1, 3, 4, 2, 5, 6), 4)

            def scaled(x, axis, size, new):
                return x.gather(axis, new, lambda i: div(mul(i, size), new))
            yield Layer(net + "_any", scaled(scaled(x, 2, h, h * 5 // 3), 3, w, w * 5 // 3), 4)

            def corner(x, axis, size, side):  # one neighbour of a bilinear sample
                def source(i):
                    i = maximum(div(add(mul(i, 2 * size), size - size * r), 2 * size * r), 0)
                    j = add(i, side)
                    return choose(less(j, size), j, size - 1) if side else j
                return x.gather(axis, size * r, source)
            for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
                yield Layer(net + "_bilinear", corner(corner(x, 2, h, a), 3, w, b), 4)

            def edge(x, axis, size, p):
                def source(i):
                    i = maximum(sub(i, p), 0)
                    return choose(less(i, size), i, size - 1)
                return x.gather(axis, size + 2 * p, source)
            e = edge(edge(x, 2, h, 1), 3, w, 1)
            yield Layer(net + "_replicate", e, 4)
            k3 = e.windows((3, 3), (1, 1), (1, 1), False)
            yield Layer(net + "_replicate_conv", k3, 4)
            if h % r == w % r == 0:
                grad = x.reshape(n, c, h // r, r, w // r, r).permute(0, 1, 2, 4, 3, 5)
                yield Layer(net + "_gradient", grad, 4)


@family(3)
def pads(rng):
    for net, shape, pad in (("crop", (8, 3, 32, 32), ((0, 0), (0, 0), (4, 4), (4, 4))),
                            ("same", (1, 3, 299, 299), ((0, 0), (0, 0), (0, 1), (0, 1))),
                            ("tokens", (4, 197, 768), ((0, 0), (0, 3), (0, 0))),
                            ("vocabulary", (50257, 768), ((0, 47), (0, 0))),
                            ("letterbox", (1, 3, 480, 640), ((0, 0), (0, 0), (80, 80), (0, 0))),
                            ("frames", (2, 16, 64, 28, 28),
                             ((0, 0), (2, 1), (0, 0), (1, 1), (1, 1))),
                            ("shift", (2, 8, 64, 56, 56), ((0, 0), (1, 0), (0, 0), (0, 0), (0, 0))),
                            ("sequence", (8, 500, 80), ((12, 0), (3, 9), (0, 0)))):
        x, n = View(*shape).pad(*pad), len(shape)
        yield Layer(net, x, n)
        yield Layer(net + "_rows", x.reshape(-1, x.shape[-1]), 2)
        yield Layer(net + "_flat", x.reshape(-1), 1)
        yield Layer(net + "_swap", x.permute(n - 1, *range(n - 1)), n)
        yield Layer(net + "_twice", x.flip(n - 1).pad(*pad), n)
        cut = [(lo, s + lo) if (lo, hi) != (0, 0) else None for s, (lo, hi) in zip(shape, pad)]
        yield Layer(net + "_undone", x.shrink(*cut), n)
        half = x.shape[-1] // 2
        yield Layer(net + "_halves", x.take(n - 1, half, 2 * half).part(n - 1, half, 0), n)


@family(4)
def scans(rng):
    """Running sums as triangular windows, relative shifts and diagonals."""
    for n, b in ((128, 8), (256, 1), (512, 32), (1024, 4), (2048, 1), (4096, 2)):
        for chain in (False, True):
            x = View(b, n).pad(None, (n - 1, 0)).windows((n,), (1,), (1,), chain)
            yield Layer("running_sum", x, 2)
            c = 64  # in two stages, by chunks
            y = View(b, n).reshape(b, n // c, c).pad(None, None, (c - 1, 0))
            yield Layer("chunked_sum", y.windows((c,), (1,), (1,), chain), 3)
            z = View(b, n // c).pad(None, (n // c, 0)).take(1, 0, 2 * (n // c) - 1)
            z = z.windows((n // c,), (1,), (1,), chain)
            yield Layer("chunk_offsets", z.insert(2, c).reshape(b, n, n // c), 2)
        shift = View(b, 16, n, 2 * n - 1).pad(None, None, None, (1, 0))
        shift = shift.reshape(b, 16, 2 * n, n).take(2, 1, 2 * n).reshape(b, 16, n, 2 * n - 1)
        yield Layer("relative_shift", shift.take(3, 0, n), 4)
        diagonal = View(b, n, n).reshape(b, n * n).part(1, 0, n).reshape(b, n, n + 1)
        yield Layer("diagonal", diagonal.take(2, 0, 1).reshape(b, n), 2)
        embed = View(b, n).reshape(b, n, 1).part(2, 0, n).reshape(b, n * (n + 1))
        yield Layer("to_diagonal", embed.take(1, 0, n * n).reshape(b, n, n), 3)
        w = min(n, 256)
        x = View(b, n, 12, 64).permute(0, 2, 3, 1).pad(None, None, None, (w // 2, w // 2))
        x = x.windows((w * 2,), (w,), (1,), False) if n > w else x.windows((w,), (1,), (1,), False)
        yield Layer("local_keys", x.permute(0, 1, 3, 4, 2).insert(3, w), 5)


# ---- The corpus --------------------------------------------------------------------------------

def candidates(name, make):
    """The (name, body) of all expressions of a family under all loop nests, shuffled."""
    rng = random.Random(f"{SEED} {name}")
    found = {}
    for by_block in (False, True):
        View.by_block = by_block
        for layer in make(rng):
            for nest in dict.fromkeys(NESTS):
                roots = lower(layer, nest, rng)
                if roots and MIN_OPS <= count_ops(roots) <= MAX_OPS:
                    # The plain loop nest counts twice: it is the one every schedule starts from.
                    weight = NESTS.count(nest)
                    found.setdefault(print_body(roots), (layer.name, nest.__name__, weight))
    pool = [(rng.random() ** (1 / weight), f"{name}_{net}_{nest}", body)
            for body, (net, nest, weight) in found.items()]
    return [(graph, body) for _, graph, body in sorted(pool, reverse=True)]


def corpus(count):
    shares = {name: share for name, (share, _) in FAMILIES.items()}
    pools = {name: candidates(name, make) for name, (_, make) in FAMILIES.items()}
    taken = {name: 0 for name in pools}
    seen, graphs = set(), []
    while len(graphs) < count:
        open_ = [name for name in pools if taken[name] < len(pools[name])]
        if not open_:
            break
        # The family furthest behind its share gives the next one.
        name = min(open_, key=lambda f: (taken[f] + 1) / shares[f])
        graph, body = pools[name][taken[name]]
        taken[name] += 1
        if body not in seen:
            seen.add(body)
            graphs.append((name, graph, body))
    names = list(FAMILIES)
    graphs.sort(key=lambda g: names.index(g[0]))
    return [f"graph {graph}_{i} {{\n{body}\n}}\n" for i, (_, graph, body) in enumerate(graphs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--count", type=int, default=2400, help="expressions wanted (%(default)s)")
    options = parser.parse_args()
    graphs = corpus(options.count)
    with open(options.out, "w", encoding="utf-8") as f:
        f.write("\n".join(graphs))
    print(f"{options.out}: {len(graphs)} expressions")


if __name__ == "__main__":
    main()
