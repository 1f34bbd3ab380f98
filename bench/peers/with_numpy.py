"""numpy with the BLAS of its wheel, into memory that is there already."""
import numpy as np
from threadpoolctl import threadpool_info

import values


def out(function):
    """Calls with the first result as `out` from then on."""
    kept = []

    def run():
        if not kept:
            kept.append(function(out=None))
        return function(out=kept[0])

    return run


class Peer:
    def __init__(self, _threads):
        pass

    @staticmethod
    def configuration():
        facts = {"version": np.__version__}
        for library in threadpool_info():
            if library["user_api"] == "blas":
                facts[library["internal_api"]] = library["version"]
                facts |= {"kernels for": library["architecture"], "threads": library["num_threads"]}
        simd = np.show_config("dicts")["SIMD Extensions"]
        return {**facts, "own loops": " ".join(simd["baseline"] + simd["found"])}

    def build(self, case, arrays):
        if case["op"] == "matmul":
            a, b = (x.swapaxes(-2, -1) if lies else x
                    for x, lies in zip(arrays, case["transposed"]))
            return out(lambda out: np.matmul(a, b, out=out))
        simple = {
            "add": lambda out: np.add(*arrays, out=out),
            "sum": lambda out: np.sum(arrays[0], tuple(case["axes"]), out=out),
            "max": lambda out: np.max(arrays[0], tuple(case["axes"]), out=out),
            "cumsum": lambda out: np.cumsum(arrays[0], case["axis"], out=out),
        }
        if case["op"] in simple:
            # A sum over all axes is no array.
            whole = len(case.get("axes", ())) == arrays[0].ndim
            function = simple[case["op"]]
            return (lambda: function(out=None)) if whole else out(function)
        if case["op"] == "permute":
            view = arrays[0].transpose(case["axes"])
            target = np.empty(view.shape, view.dtype)
            return lambda: (np.copyto(target, view), target)[1]
        return lambda: values.REFERENCE[case["op"]](case, *arrays)

    @staticmethod
    def array(result):
        return np.asarray(result)


