"""scipy's RBFInterpolator on the poses and shapes that dermis's bench `psd` wrote.

Usage: psd_scipy.py FOLDER                             prints a line of JSON: seconds, best of several
       psd_scipy.py FOLDER OURS ONE_THREAD ALL         prints a Markdown table of such lines

Gaussians without a polynomial, which is the function that dermis solves for. The result of scipy is
kept in FOLDER and compared with those of dermis, which are 32-bit numbers.
"""

import json
import os
import sys
import time

import numpy as np

RUNS = 25


def best(call):
    """The least seconds of a call, and what it returned."""
    least = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        result = call()
        least = min(least, time.perf_counter() - start)
    return least, result


def measure(folder, falloff=0.6):
    import scipy
    from scipy.interpolate import RBFInterpolator

    load = lambda name: np.fromfile(os.path.join(folder, name))
    points = load("points").reshape(-1, 3)
    shapes = load("shapes").reshape(len(points), -1)
    asked = load("asked").reshape(1, 3)
    # exp(-(e d)^2) is exp(-d^2 / 2f^2).
    options = dict(kernel="gaussian", epsilon=1 / (falloff * 2**0.5), degree=-1)
    fit_seconds, fitted = best(lambda: RBFInterpolator(points, shapes, **options))
    evaluate_seconds, result = best(lambda: fitted(asked))
    result.ravel().tofile(os.path.join(folder, "scipy"))
    print(json.dumps({"version": scipy.__version__, "fit": fit_seconds, "evaluate": evaluate_seconds}))


def table(folder, ours, one, everything):
    load = lambda name: np.fromfile(os.path.join(folder, name))
    milliseconds = lambda seconds: f"{1e3 * seconds:.3f}"
    fit, evaluate = ours["solve"], ours["16"]["blocks"]
    rows = []
    for name, which in [("16 bits", "16"), ("32 bits", "full")]:
        mine = ours[which]
        off = np.abs(load(f"ours_{which}") - load("scipy")).max()
        for key in ["blocks", "vertices", "threads"]:
            what = f"dermis, {name}, {key if key != 'threads' else 'blocks, threads'}"
            rows.append((what, fit, fit + mine["pack"], mine[key], f"{off:.1e}"))
    for name, peer in [("1 thread", one), ("its own threads", everything)]:
        what = f"scipy {peer['version']}, {name}"
        rows.append((what, peer["fit"], peer["fit"], peer["evaluate"], ""))
    print("| 10 poses, 50,000 vertices | solve, ms | times dermis | solve and pack, ms "
          "| evaluate, ms | times dermis (16 bits, blocks) | largest difference to scipy |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for what, solve, packed, seconds, off in rows:
        print(f"| {what} | {milliseconds(solve)} | {solve / fit:.0f} | {milliseconds(packed)} "
              f"| {milliseconds(seconds)} | {seconds / evaluate:.1f} | {off} |")


if len(sys.argv) == 2:
    measure(sys.argv[1])
else:
    table(sys.argv[1], *map(json.loads, sys.argv[2:]))
