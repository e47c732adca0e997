"""dermis decompose and Dem Bones on the same mesh animations, in turn.

Usage: dem_bones.py DERMIS DATA_FOLDER              prints a Markdown table
       dem_bones.py --solve NPZ BONES TRANS_AFFINE  one run of Dem Bones, one line of JSON

Dem Bones has rigid bones, which its soft constraint transAffine (10 by default) may keep from
drifting apart; both that and 0 are run, 30 iterations, four influences, as its documentation has
them. Seconds are those of solving alone on both sides: no reading, no writing. E_RMS is computed
here from Dem Bones' weights and matrices, with the measure that dermis uses.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

RUNS = int(os.environ.get("RUNS", "2"))
THREADS = [int(count) for count in os.environ.get("THREADS", "1 2").split()]
# Name, file, bones, at most so many runs.
SEQUENCES = [
    ("galloping horse", "horse-gallop/horse-gallop.npz", 30, RUNS),
    ("galloping horse", "horse-gallop/horse-gallop.npz", 20, RUNS),
    ("collapsing horse", "horse-collapse/horse-collapse.npz", 6, RUNS),
    ("crane", "crane/crane.npz", 40, 1),
]
DEM_BONES = [("Dem Bones", "10"), ("Dem Bones, transAffine 0", "0")]
DERMIS = [
    (f"dermis, {motion}, {name}", [*flags, f"--{motion}"])
    for motion in ("rigid", "affine")
    for name, flags in (
        ("fast", ["--quality", "fast"]),
        ("one start", ["--starts", "1"]),
        ("default", ["--quality", "default"]),
    )
]


def ball_of_few(points):
    """The smallest ball around at most five points: its centre, radius, and the points on it."""
    best = None
    for size in range(1, min(4, len(points)) + 1):
        for subset in itertools.combinations(range(len(points)), size):
            chosen = points[list(subset)]
            edges = chosen[1:] - chosen[0]
            # The centre is equally far from all of them, in the plane that they span.
            gram = edges @ edges.T
            along = np.linalg.lstsq(2 * gram, np.diag(gram), rcond=None)[0] if size > 1 else []
            centre = chosen[0] + (np.asarray(along) @ edges if size > 1 else 0)
            radius = np.linalg.norm(chosen[0] - centre)
            reach = np.linalg.norm(points - centre, axis=1).max()
            if reach <= radius * (1 + 1e-9) + 1e-15 and (best is None or radius < best[1]):
                best = centre, radius, chosen
    return best


def ball_radius(points):
    """Radius of the smallest ball around all points: the farthest one joins until none is outside."""
    centre, radius, support = points[0], 0.0, points[:1]
    for _ in range(1000):
        distances = np.linalg.norm(points - centre, axis=1)
        farthest = distances.argmax()
        if distances[farthest] <= radius * (1 + 1e-9):
            return radius
        centre, radius, support = ball_of_few(np.vstack([support, points[farthest]]))
    raise RuntimeError("the smallest ball was not found")


def rms(rest, poses, transforms, weights):
    """Root mean square error of a coordinate: transforms (F, B, 4, 4), weights (B, V)."""
    homogeneous = np.hstack([rest, np.ones((len(rest), 1))])
    squares = 0.0
    for matrices, pose in zip(transforms, poses):
        moved = np.einsum("bij,vj->bvi", matrices[:, :3, :], homogeneous)
        shown = np.einsum("bv,bvi->vi", weights, moved)
        squares += ((shown - pose) ** 2).sum()
    return np.sqrt(squares / poses.size)


def solve(file, bones, trans_affine):
    """One run of Dem Bones."""
    import py_dem_bones

    arrays = np.load(file)
    rest = arrays["rest"].astype(np.float64)
    poses = arrays["positions"].astype(np.float64)
    faces = [list(map(int, face)) for face in arrays["faces"]]
    solver = py_dem_bones.DemBones()
    solver.transAffine = float(trans_affine)
    start = time.perf_counter()
    result = py_dem_bones.solve_skinning(
        rest, poses, bones, faces=faces, max_influences=4, iterations=30, solver=solver
    )
    seconds = time.perf_counter() - start
    error = rms(rest, poses, result.transforms, result.weights)
    # Its own measure is of vertices, not coordinates: a check that matrices are read the right way.
    own = solver.rmse() / np.sqrt(3)
    assert abs(error - own) <= 1e-6 * own, f"rms {error}, but Dem Bones says {own}"
    found = {
        "seconds": seconds,
        "eRms": 1000 * error / ball_radius(poses[0]),
        "bones": result.transforms.shape[1],
    }
    print(json.dumps(found))


def run(command, threads):
    """The last line that a command prints, as JSON."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    text = done.stdout
    return json.loads(text[text.index("{"):])


def main():
    dermis, data = sys.argv[1:]
    with tempfile.TemporaryDirectory() as made:
        table(dermis, data, made)


def table(dermis, data, made):
    """All sequences; skins are written to the folder `made`."""
    names = [f"{count} thread{'s' if count > 1 else ''}" for count in THREADS]
    columns = [f"s, {name}" for name in names] + [f"Dem Bones / this, {name}" for name in names]
    print(f"| sequence | bones | solver | E_RMS | {' | '.join(columns)} |")
    print("| --- | ---: | --- | ---: |" + " ---: |" * len(columns))
    for name, file, bones, runs in SEQUENCES:
        path = os.path.join(data, file)
        if not os.path.exists(path):
            print(f"no {path}: left out", file=sys.stderr)
            continue
        commands = {}
        for solver, trans_affine in DEM_BONES:
            commands[solver] = lambda threads, t=trans_affine: [
                sys.executable, __file__, "--solve", path, str(bones), t,
            ]
        for solver, flags in DERMIS:
            commands[solver] = lambda threads, f=flags: [
                dermis, "decompose", path, "--bones", str(bones), "-o", os.path.join(made, "skin.glb"),
                "--quiet", "--json", "--threads", str(threads), *f,
            ]
        print_rows(name, measure(commands, runs))


def measure(commands, runs):
    """Error and best seconds by threads of every command, all of them in turn in each run."""
    found = {}
    for _ in range(runs):
        for threads in THREADS:
            for solver, command in commands.items():
                result = run(command(threads), threads)
                row = found.setdefault(solver, {**result, "seconds": {}})
                before = row["seconds"].get(threads, float("inf"))
                row["seconds"][threads] = min(before, result["seconds"])
    return found


def print_rows(name, found):
    """One row per solver; ratios are to the faster of the two settings of Dem Bones."""
    peers = [found[solver]["seconds"] for solver, _ in DEM_BONES]
    for solver, row in found.items():
        ratios = [""] * len(THREADS)
        if solver.startswith("dermis"):
            best = [min(peer[threads] for peer in peers) for threads in THREADS]
            ratios = [f"{b / row['seconds'][t]:.1f}" for b, t in zip(best, THREADS)]
        seconds = [f"{row['seconds'][threads]:.2f}" for threads in THREADS]
        cells = [name, row["bones"], solver, f"{row['eRms']:.3f}", *seconds, *ratios]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if sys.argv[1:2] == ["--solve"]:
    solve(sys.argv[2], int(sys.argv[3]), sys.argv[4])
else:
    main()
