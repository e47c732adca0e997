"""Texture atlases of dermis and xatlas on the same meshes: the table of `atlas_peers.sh`."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import xatlas

SETS = {
    "horse": "horse-gallop/horse-gallop.npz",
    "crane": "crane/crane.npz",
    "hand": "bpy/hand_csmooth/truth.npz",
    "body": "bpy/makehuman_csmooth/truth.npz",
    "tube, cloth": "bpy/tube_cloth/truth.npz",
    "clothes": "bpy/makehuman_cloth/truth.npz",
}
SIZE, PADDING = 2048, 4
MOST_FRAMES = 48


def stretch(points, uvs, triangles):
    """L2 texture stretch: 1 is perfect. `triangles` name rows of `points`, and of `uvs`."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    s, t, u = (uvs[triangles[:, k]] for k in range(3))
    e, f, d1, d2 = b - a, c - a, t - s, u - s
    area = 0.5 * numpy.linalg.norm(numpy.cross(e, f), axis=1)
    det = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    dot = lambda x, y: (x * y).sum(axis=1)
    n = dot(e, e) * dot(d2, d2) - 2 * dot(e, f) * dot(d1, d2) + dot(f, f) * dot(d1, d1)
    has = area > 0
    with numpy.errstate(divide="ignore", invalid="ignore"):
        per_area = n[has] / (2 * det[has] ** 2)
    return numpy.sqrt((area[has] * per_area).sum() * (0.5 * abs(det)).sum()) / area.sum()


def measured(name, who, charts, points_of, uvs, triangles, packing, seconds, rest, frames):
    at_rest = stretch(rest[points_of], uvs, triangles)
    over = numpy.mean([stretch(frame[points_of], uvs, triangles) for frame in frames])
    print(f"| {name} | {len(triangles)} | {who} | {charts} | {at_rest:.4f} | {over:.4f} | {packing:.3f} | {seconds:.2f} |")
    sys.stdout.flush()


def run_xatlas(name, rest, faces, frames):
    begun = time.perf_counter()
    atlas = xatlas.Atlas()
    atlas.add_mesh(rest.astype(numpy.float32), faces.astype(numpy.uint32))
    pack = xatlas.PackOptions()
    pack.padding, pack.resolution = PADDING, SIZE
    atlas.generate(xatlas.ChartOptions(), pack)
    seconds = time.perf_counter() - begun
    points_of, triangles, uvs = atlas[0]
    packing = float(numpy.mean(atlas.utilization))
    measured(name, "xatlas", atlas.chart_count, points_of, uvs.astype(float), triangles, packing, seconds, rest, frames)


def run_dermis(name, program, path, poses, rest, frames, folder):
    out = folder / "out.obj"
    command = [program, "unwrap", path, "-o", out, "--poses", poses, "--size", str(SIZE), "--padding", str(PADDING)]
    told = subprocess.run([*command, "--json", "--quiet"], check=True, capture_output=True, text=True).stdout
    facts = json.loads(told)
    # A sequence is a file for each frame; their UVs are the same.
    out = min(folder.glob("out*.obj"))
    uvs, corners = [], []
    for line in out.read_text().splitlines():
        words = line.split()
        if words[:1] == ["vt"]:
            uvs.append([float(x) for x in words[1:3]])
        elif words[:1] == ["f"]:
            ring = [[int(x) - 1 for x in corner.split("/")[:2]] for corner in words[1:]]
            corners += [[ring[0], ring[k], ring[k + 1]] for k in range(1, len(ring) - 1)]
    corners = numpy.array(corners)
    # Each corner is a vertex of its own here.
    triangles = numpy.arange(corners.shape[0] * 3).reshape(-1, 3)
    points_of, uv_of = corners[..., 0].ravel(), corners[..., 1].ravel()
    uvs = numpy.array(uvs)[uv_of]
    measured(name, f"dermis, {poses}", facts["charts"], points_of, uvs, triangles, facts["packing"], facts["seconds"], rest, frames)


def main():
    program, data, *wanted = sys.argv[1:]
    print("| mesh | triangles | | charts | L2 at rest | L2 over frames | packing | s |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for name, file in SETS.items():
            if wanted and name not in wanted:
                continue
            path = Path(data) / file
            with numpy.load(path) as arrays:
                rest, positions, faces = (arrays[key] for key in ("rest", "positions", "faces"))
            at = numpy.linspace(0, len(positions) - 1, min(len(positions), MOST_FRAMES)).astype(int)
            frames = positions[at].astype(float)
            rest = rest.astype(float)
            run_xatlas(name, rest, faces, frames)
            for poses in ["rest", "any", "shown"]:
                try:
                    run_dermis(name, program, path, poses, rest, frames, Path(folder))
                except subprocess.CalledProcessError as error:
                    print(f"| {name} | | dermis, {poses} | {error.stderr.strip()} |")


main()
