"""scipy on the linear system of an animation-space fit, to the residual that dermis reached.

Usage: anim_space_lsqr.py NAME FOLDER SUMMARY    prints rows of a Markdown table

FOLDER has what the example anim_space_system wrote, SUMMARY is the line of JSON that it printed.
Two ways: LSQR on the rectangular matrix, as in the paper, and conjugate gradients on the normal
matrix, preconditioned by one block per vertex. Times include forming what each needs.
"""

import json
import os
import resource
import sys
import time

# One thread, as scipy's sparse products have anyway.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

MAX_LSQR_ITERATIONS = int(os.environ.get("MAX_LSQR_ITERATIONS", "100000"))


def peak_mib():
    """The most memory this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def block_inverses(normal, starts):
    """The inverse of every vertex's diagonal block, as one sparse matrix."""
    rows, columns, values = [], [], []
    sizes = np.diff(starts)
    entries = normal.tocoo()
    vertex_of = np.repeat(np.arange(len(sizes)), sizes)
    inside = vertex_of[entries.row] == vertex_of[entries.col]
    vertex, row, column, value = (
        vertex_of[entries.row[inside]],
        entries.row[inside],
        entries.col[inside],
        entries.data[inside],
    )
    for size in np.unique(sizes):
        vertices = np.flatnonzero(sizes == size)
        place = np.full(len(sizes), -1)
        place[vertices] = np.arange(len(vertices))
        own = place[vertex] >= 0
        blocks = np.zeros((len(vertices), size, size))
        at = starts[vertex[own]]
        blocks[place[vertex[own]], row[own] - at, column[own] - at] = value[own]
        offsets = starts[vertices][:, None, None]
        r = np.broadcast_to(offsets + np.arange(size)[None, :, None], blocks.shape)
        c = np.broadcast_to(offsets + np.arange(size)[None, None, :], blocks.shape)
        rows.append(r.ravel())
        columns.append(c.ravel())
        values.append(np.linalg.inv(blocks).ravel())
    flat = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_matrix(flat, shape=normal.shape)


def block_jacobi_cg(matrix, right, starts, wanted):
    """Conjugate gradients on the normal equations until their residual is `wanted`."""
    normal = (matrix.T @ matrix).tocsr()
    precondition = block_inverses(normal, starts)
    residual = matrix.T @ right
    x = np.zeros(len(residual))
    step = precondition @ residual
    direction = step.copy()
    rho = residual @ step
    iterations = 0
    while np.linalg.norm(residual) > wanted and iterations < 100000:
        product = normal @ direction
        alpha = rho / (direction @ product)
        x += alpha * direction
        residual -= alpha * product
        step = precondition @ residual
        before, rho = rho, residual @ step
        direction = step + (rho / before) * direction
        iterations += 1
    return x, iterations


def main():
    name, folder, summary = sys.argv[1:]
    ours = json.loads(summary)
    load = lambda array: np.load(os.path.join(folder, f"{array}.npy"))
    starts, right, solution = load("starts"), load("right"), load("ours")
    shape = len(right), int(starts[-1])
    matrix = sp.csr_matrix((load("values"), load("columns"), load("row_starts")), shape=shape)

    # The residual of the normal equations says how far a solution is from the best one.
    gradient = lambda x: np.linalg.norm(matrix.T @ (right - matrix @ x))
    scale = gradient(np.zeros(shape[1]))
    reached = gradient(solution)

    before = peak_mib()
    start = time.perf_counter()
    by_cg, cg_iterations = block_jacobi_cg(matrix, right, starts, reached)
    cg_seconds = time.perf_counter() - start
    cg_memory = peak_mib() - before

    residual = np.linalg.norm(right - matrix @ solution)
    frobenius = np.linalg.norm(matrix.data)
    start = time.perf_counter()
    by_lsqr, stop, lsqr_iterations = lsqr(
        matrix,
        right,
        atol=reached / (frobenius * residual),
        btol=0,
        conlim=0,
        iter_lim=MAX_LSQR_ITERATIONS,
    )[:3]
    lsqr_seconds = time.perf_counter() - start

    best = ours["iterationsSeconds"]
    rows = [
        ("dermis, iterations", best, "", reached, ours["peakGrowthMiB"]),
        ("dermis, Cholesky", ours["choleskySeconds"], "", None, None),
        ("scipy, block-Jacobi CG", cg_seconds, cg_iterations, gradient(by_cg), cg_memory),
        ("scipy LSQR", lsqr_seconds, lsqr_iterations, gradient(by_lsqr), None),
    ]
    for row, seconds, iterations, left, memory in rows:
        left = "" if left is None else f"{left / scale:.1e}"
        memory = "" if memory is None else f"{memory:.0f}"
        print(
            f"| {name}, {shape[1]} unknowns | {row} | {seconds:.3f} | {seconds / best:.1f} "
            f"| {iterations} | {left} | {memory} |"
        )
    if stop == 7:
        print(f"{name}: LSQR was ended at {lsqr_iterations} iterations", file=sys.stderr)


main()
