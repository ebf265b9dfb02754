"""The work of `pits bench` in numpy, on one thread: what one would write without pits.

  numpy_reference.py REPETITIONS SECONDS WORK...     WORK is features:K:z:d:h:M

Prints one JSON object: {"version": ..., "work": {WORK: {"seconds": ..., "p50": ..., "p99": ...}}}. The caller limits
the threads (OPENBLAS_NUM_THREADS=1) and may name OpenBLAS's kernels (OPENBLAS_CORETYPE=SkylakeX).

A decision among K actions of z features at a context of d numbers: M networks (d+z)-h-1 score every action, one of them
decides, and the share that agrees is its probability. What the context adds to the hidden units is the same for all
actions, so that the product is (K,z) by (z,h). Two ways are timed, a network at a time and all in one product, and the
faster one counts; so does the best of several repetitions, as in pits.
"""
import json
import sys
import time

import numpy as np


class Decide:
    def __init__(self, actions, z, d, hidden, particles, wide):
        draw = np.random.default_rng(0).standard_normal
        self.wide = wide
        self.features = draw((actions, z), dtype=np.float32)
        self.x = draw(d, dtype=np.float32)
        self.from_x, self.from_z = draw((particles, hidden, d), np.float32), draw((particles, hidden, z), np.float32)
        self.bias, self.out = draw((particles, hidden), np.float32), draw((particles, hidden), np.float32)
        self.all_from_z = np.ascontiguousarray(self.from_z.reshape(particles * hidden, z).T)
        self.each_from_z = [np.ascontiguousarray(w.T) for w in self.from_z]
        self.round = 0

    def one_by_one(self, common):
        for weights, offset, out in zip(self.each_from_z, common, self.out):
            units = self.features @ weights
            units += offset
            np.maximum(units, 0.0, out=units)
            yield (units @ out).argmax()

    def all_at_once(self, common):
        units = self.features @ self.all_from_z
        units += common.reshape(-1)
        np.maximum(units, 0.0, out=units)
        values = np.einsum("kmh,mh->mk", units.reshape(len(units), *self.out.shape), self.out, optimize=True)
        return values.argmax(axis=1)

    def __call__(self):
        self.round += 1
        common = self.from_x @ self.x + self.bias
        preferred = self.all_at_once(common) if self.wide else np.fromiter(self.one_by_one(common), np.int64)
        shares = np.bincount(preferred, minlength=len(self.features)) / len(preferred)
        action = preferred[self.round % len(preferred)]
        return action, shares[action]


def single_times(work, seconds):
    """(mean CPU time, median and 99th percentile of the wall times) of single calls."""
    single, start = [], time.thread_time()
    while time.thread_time() - start < seconds or not single:
        before = time.perf_counter()
        work()
        single.append(time.perf_counter() - before)
    mean = (time.thread_time() - start) / len(single)
    single.sort()
    return mean, *(single[int(share * (len(single) - 1))] for share in (0.5, 0.99))


def measure(work, repetitions, seconds):
    work()
    return dict(zip(("seconds", "p50", "p99"), min(single_times(work, seconds) for _ in range(repetitions))))


def main(repetitions, seconds, names):
    results = {}
    for name in names:
        shape = [int(number) for number in name.split(":")[1:]]
        results[name] = min((measure(Decide(*shape, wide), repetitions, seconds) for wide in (False, True)),
                            key=lambda times: times["p50"])
    json.dump({"version": np.__version__, "work": results}, sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
