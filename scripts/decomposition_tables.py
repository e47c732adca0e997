"""Prints tables about skinning decomposition, as Markdown. Called by scripts/results.sh.

Usage: decomposition_tables.py DERMIS DATA_FOLDER TABLE...

sequences    the animations of [Kavan10] that are at hand, by quality
rounds       error and time against rounds, galloping horse
comparators  the columns of [Kavan10] Table 2
sets         every other mesh animation at hand
published    Le and Deng's own solutions at the same numbers of bones

Needs nothing but Python. A set that is not there is left out with a line on standard error.
"""

import array
import ast
import glob
import itertools
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import zipfile


class Dermis:
    """The binary, with a folder for what it writes."""

    def __init__(self, binary, data, made):
        self.binary, self.data, self.made = binary, data, made

    def file(self, *names):
        """A file of the data folder; None with a remark when it is not there."""
        path = os.path.join(self.data, *names)
        if glob.glob(path):
            return path
        print(f"no {path}: left out", file=sys.stderr)
        return None

    def json(self, *arguments):
        command = [self.binary, *map(str, arguments), "--quiet", "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        return json.loads(done.stdout)

    def decompose(self, path, bones, *flags):
        skin = os.path.join(self.made, "skin.glb")
        return self.json("decompose", path, "--bones", bones, "-o", skin, *flags)

    def sequence(self, *names, rest=None):
        """A sequence as one npz file: single meshes are converted."""
        path = self.file(*names)
        to = os.path.join(self.made, names[0] + ".npz")
        if path is None:
            return path
        if path.endswith(".npz"):
            return renamed(path, to) if names[0] == "spot-sim" else path
        flags = ["--rest", os.path.join(self.data, names[0], rest)] if rest else []
        subprocess.run([self.binary, "convert", path, *flags, to, "--quiet"], check=True)
        return to


def renamed(path, to):
    """The simulated meshes of spot-sim under the name that sequences have."""
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(to, "w") as made:
        made.writestr("positions.npy", archive.read("verts_yoharol.npy"))
        made.writestr("faces.npy", archive.read("faces.npy"))
    return to


def head(*columns):
    """Column names; those that begin with # are numbers."""
    print("| " + " | ".join(name.lstrip("#") for name in columns) + " |")
    print("| " + " | ".join("---:" if name.startswith("#") else "---" for name in columns) + " |")


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def short(error):
    """Three digits, as the command prints errors."""
    if error is None:
        return ""
    if error < 1e-6:
        return "0"
    if error < 0.001:
        return f"{error:.0e}"
    return f"{error:.3f}" if error < 10 else f"{error:.1f}"


# Name, file, bones, motion, and error and seconds of the paper's method in its Table 2.
KAVAN = [
    ("galloping horse", "horse-gallop/horse-gallop.npz", 30, "affine", ("1.3", "4.3")),
    ("galloping horse", "horse-gallop/horse-gallop.npz", 20, "affine", ("", "")),
    ("collapsing horse", "horse-collapse/horse-collapse.npz", 6, "affine", ("8.3", "3.5")),
    ("crane", "crane/crane.npz", 40, "affine", ("1.4", "21.7")),
    ("galloping horse", "horse-gallop/horse-gallop.npz", 30, "rigid", ("", "")),
]


def sequences(dermis):
    head("sequence", "#bones", "motion", "#fast", "#s", "#default", "#s", "#best", "#s", "#4P-term SVD",
         "#paper", "#paper's s")
    for name, file, bones, motion, paper in KAVAN:
        path = dermis.file(file)
        if path is None:
            continue
        cells = []
        for quality in ("fast", "default", "best"):
            found = dermis.decompose(path, bones, f"--{motion}", "--quality", quality)
            cells += [short(found["eRms"]), f"{found['seconds']:.2f}"]
        row(name, bones, motion, *cells, short(found["svdBound"]), *paper)


def rounds(dermis):
    path = dermis.file("horse-gallop/horse-gallop.npz")
    if path is None:
        return
    head("#rounds", "#E_RMS", "#s", "#rigid: E_RMS", "#s")
    for count in (1, 2, 4, 8, 15, 30, 50, 100, 240):
        cells = []
        for motion in ("--affine", "--rigid"):
            found = dermis.decompose(path, 30, "--rounds", count, "--starts", 1, motion)
            cells += [short(found["eRms"]), f"{found['seconds']:.2f}"]
        row(count, *cells)


def comparators(dermis):
    head("sequence", "#bones", "method", "#E_RMS", "#with rank 10", "#s", "#s of rank 10", "#bytes/vertex",
         "#bytes/frame", "plays in stock engines")
    for name, file, bones, motion, _ in KAVAN:
        path = dermis.file(file)
        if path is None or motion == "rigid":
            continue
        compared = dermis.json("compare", path, "--decompose", bones)
        for m in compared["methods"]:
            if m["error"]:
                row(name, bones, m["method"], m["error"])
                continue
            plain, eigen = m["numbers"], m["withEigenSkin"]
            row(
                name, bones, m["method"], short(plain["eRms"]), short(eigen["eRms"]) if eigen else "",
                f"{plain['seconds']:.2f}", f"{eigen['seconds']:.2f}" if eigen else "",
                f"{plain['bytesPerVertex']:.0f}", plain["bytesPerFrame"],
                "yes" if m["playback"] == "exact" else m["playback"] or "no",
            )


BPY = ["tube_lbs", "tube_dqs", "tube_csmooth", "tube_surfdef", "tube_cloth", "hand_csmooth",
       "makehuman_csmooth", "makehuman_bulge", "makehuman_cloth"]
# Fewer columns than frames have numbers, so that the bound says something.
BONES = {"tube_lbs": 3, "tube_dqs": 6, "tube_csmooth": 6, "tube_surfdef": 6, "tube_cloth": 20,
         "hand_csmooth": 16, "makehuman_csmooth": 40, "makehuman_bulge": 20, "makehuman_cloth": 30}


def sets(dermis):
    files = [(name, ("bpy", name, "truth.npz"), BONES[name], None) for name in BPY]
    files += [
        ("spot-sim", ("spot-sim", "spot_helpers_extracted.npz"), 15, None),
        ("cat-poses", ("cat-poses", "0*.obj"), 25, "cat-poses-reference.obj"),
        ("face-poses", ("face-poses", "face-poses.npz"), 27, None),
    ]
    head("set", "#vertices", "#frames", "#bones", "#affine", "#s", "#rigid", "#s", "#4P-term SVD")
    for name, names, bones, rest in files:
        path = dermis.sequence(*names, rest=rest)
        if path is None:
            continue
        affine = dermis.decompose(path, bones)
        rigid = dermis.decompose(path, bones, "--rigid")
        frames = sum(clip["frames"] for clip in affine["clips"])
        cells = [c for m in (affine, rigid) for c in (short(m["eRms"]), f"{m['seconds']:.2f}")]
        row(name, affine["vertices"], frames, bones, *cells, short(affine["svdBound"]))


# E_RMS of the published solutions, in model units: shared with the data, see its README.
PUBLISHED = [
    ("horse-gallop.npz", None, "affine", [(10, 6.606), (20, 3.274), (30, 2.056)]),
    ("horse-collapse.npz", None, "affine", [(10, 5.376), (20, 3.736)]),
    ("horse-collapse.npz", None, "rigid", [(10, 7.712)]),
    ("horse-poses/[0-9]*.obj", "horse-poses-reference.obj", "affine", [(10, 7.785), (20, 3.304)]),
    ("cat-poses/0*.obj", "cat-poses-reference.obj", "affine",
     [(10, 7.858), (15, 5.278), (20, 3.860), (25, 2.943)]),
    ("cat-poses/0*.obj", "cat-poses-reference.obj", "rigid", [(15, 6.641), (20, 4.862), (25, 3.445)]),
    ("face-poses.npz", None, "affine", [(27, 3.971)]),
]


def published(dermis):
    head("set", "#bones", "motion", "#published, model units", "#published, unit ball", "#dermis, default",
         "#s", "#published / dermis")
    for file, rest, motion, solutions in PUBLISHED:
        name = file.split("/")[0].removesuffix(".npz")
        path = dermis.sequence(name, os.path.basename(file), rest=rest)
        if path is None:
            continue
        radius = ball_radius(first_frame(path))
        for bones, theirs in solutions:
            found = dermis.decompose(path, bones, f"--{motion}")
            scaled = theirs / radius
            ours = found["eRms"]
            row(name, bones, motion, f"{theirs:.3f}", f"{scaled:.3f}", f"{ours:.3f}",
                f"{found['seconds']:.2f}", f"{scaled / ours:.2f}")


def first_frame(path):
    """The points of the first frame of an npz file."""
    with zipfile.ZipFile(path) as archive, archive.open("positions.npy") as file:
        version = file.read(8)[6]
        size = struct.unpack("<H" if version == 1 else "<I", file.read(2 if version == 1 else 4))[0]
        header = ast.literal_eval(file.read(size).decode("latin1"))
        assert not header["fortran_order"] and header["descr"] in ("<f4", "<f8"), header
        numbers = array.array("f" if header["descr"] == "<f4" else "d")
        count = 3 * header["shape"][1]
        numbers.frombytes(file.read(count * numbers.itemsize))
    return [tuple(numbers[i:i + 3]) for i in range(0, count, 3)]


def ball_radius(points):
    """Radius of the smallest ball: the farthest point joins until none is outside."""
    centre, radius, support = points[0], 0.0, [points[0]]
    for _ in range(1000):
        farthest = max(points, key=lambda p: math.dist(p, centre))
        if math.dist(farthest, centre) <= radius * (1 + 1e-9):
            return radius
        centre, radius, support = ball_of_few([*support, farthest])
    raise RuntimeError("the smallest ball was not found")


def ball_of_few(points):
    """Centre and radius of the smallest ball around at most five points, and those on it."""
    best = None
    for size in range(1, min(4, len(points)) + 1):
        for chosen in itertools.combinations(points, size):
            centre = circumcentre(chosen)
            if centre is None:
                continue
            radius = math.dist(chosen[0], centre)
            holds_all = all(math.dist(p, centre) <= radius * (1 + 1e-9) + 1e-15 for p in points)
            if holds_all and (best is None or radius < best[1]):
                best = centre, radius, list(chosen)
    return best


def circumcentre(points):
    """The point equally far from at most four points, in the plane or line that they span."""
    origin = points[0]
    edges = [[a - b for a, b in zip(p, origin)] for p in points[1:]]
    dot = lambda a, b: sum(x * y for x, y in zip(a, b))
    # Gauss-Jordan on 2 E Eᵀ s = |e|².
    rows = [[2 * dot(a, b) for b in edges] + [dot(a, a)] for a in edges]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if abs(rows[i][i]) < 1e-18:
            return None
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(len(rows)):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i])]
    return tuple(o + sum(r[-1] * e[axis] for r, e in zip(rows, edges)) for axis, o in enumerate(origin))


TABLES = {t.__name__: t for t in (sequences, rounds, comparators, sets, published)}


def main():
    binary, data, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as made:
        for name in names:
            print(f"\n<!-- {name} -->\n")
            TABLES[name](Dermis(binary, data, made))


main()
