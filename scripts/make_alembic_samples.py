#!/usr/bin/env python3
"""Makes the Alembic files that the tests read, with the official library:

    pip install alembic3d==1.8.12.1
    python3 scripts/make_alembic_samples.py data/alembic

Each file has what its function says. The tests compare what dermis reads from them with numbers that they compute
themselves, and with the library's own answers (clients/alembic_positions.py) where it is installed.
"""

import math
import os
import sys

import imath
from alembic3d import Abc, AbcGeom
from alembic3d.AbcCoreAbstract import AcyclicFlag, TimeSampling, TimeSamplingType, TimeVector

FRAME = 1 / 24


def even(archive, start=FRAME, step=FRAME):
    return archive.addTimeSampling(TimeSampling(step, start))


def at_times(archive, times, cycle=None):
    """Samples at any times, or, with the length of a cycle, at these times in every cycle."""
    vector = TimeVector()
    for time in times:
        vector.append(time)
    if cycle is None:
        return archive.addTimeSampling(TimeSampling(TimeSamplingType(AcyclicFlag.kAcyclic), vector))
    return archive.addTimeSampling(TimeSampling(TimeSamplingType(len(times), cycle), vector))


def points(list_of_points):
    array = imath.V3fArray(len(list_of_points))
    for k, (x, y, z) in enumerate(list_of_points):
        array[k] = imath.V3f(x, y, z)
    return array


def pairs(list_of_pairs):
    array = imath.V2fArray(len(list_of_pairs))
    for k, (u, v) in enumerate(list_of_pairs):
        array[k] = imath.V2f(u, v)
    return array


def ints(numbers, kind=imath.IntArray):
    array = kind(len(numbers))
    for k, number in enumerate(numbers):
        array[k] = number
    return array


def clockwise(faces):
    """Faces that are counter-clockwise from outside, as Alembic winds them."""
    return [[face[0], *reversed(face[1:])] for face in faces]


# A box from -1 to 1, counter-clockwise from outside; point k has the signs of its three bits.
BOX = [[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
BOX_FACES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


def mesh(parent, name, shapes, faces, sampling=None, uvs=None, normals=None, kind="PolyMesh"):
    """A mesh with one shape per sample; `faces` is one list, or a list for each shape."""
    if kind == "SubD":
        made, new_sample = AbcGeom.OSubD(parent, name), AbcGeom.OSubDSchemaSample
    else:
        made, new_sample = AbcGeom.OPolyMesh(parent, name), AbcGeom.OPolyMeshSchemaSample
    schema = made.getSchema()
    if sampling is not None:
        schema.setTimeSampling(sampling)
    for k, shape in enumerate(shapes):
        own = faces[k] if isinstance(faces[0][0], list) else faces
        own = clockwise(own)
        corners = ints([point for face in own for point in face])
        counts = ints([len(face) for face in own])
        sample = new_sample(points(shape), corners, counts)
        if k == 0 and uvs is not None:
            sample.setUVs(uvs)
        if k == 0 and normals is not None:
            sample.setNormals(normals)
        schema.set(sample)
    return made


def transform(parent, name, samples, sampling=None, inherits=True):
    """A transform; each sample is a list of what `add` takes."""
    made = AbcGeom.OXform(parent, name)
    if sampling is not None:
        made.getSchema().setTimeSampling(sampling)
    for steps in samples:
        sample = AbcGeom.XformSample()
        for operation, value in steps:
            add(sample, operation, value)
        sample.setInheritsXforms(inherits)
        made.getSchema().set(sample)
    return made


def add(sample, operation, value):
    kinds = AbcGeom.XformOperationType
    if operation == "translate":
        sample.addOp(AbcGeom.XformOp(kinds.kTranslateOperation, 0), imath.V3d(*value))
    elif operation == "scale":
        sample.addOp(AbcGeom.XformOp(kinds.kScaleOperation, 0), imath.V3d(*value))
    elif operation == "rotate":
        axis, degrees = value
        sample.addOp(AbcGeom.XformOp(kinds.kRotateOperation, 0), imath.V3d(*axis), degrees)
    elif operation in ("x", "y", "z"):
        kind = {"x": kinds.kRotateXOperation, "y": kinds.kRotateYOperation, "z": kinds.kRotateZOperation}[operation]
        sample.addOp(AbcGeom.XformOp(kind, 0), value)
    else:
        matrix = imath.M44d(*[number for row in value for number in row])
        sample.addOp(AbcGeom.XformOp(kinds.kMatrixOperation, 0), matrix)


def cloth(path):
    """A sheet of 4 x 3 quads that waves for five frames, with UVs that have a seam, normals, and two sets of faces."""
    archive = Abc.OArchive(path)
    across, along = 5, 4
    shapes = [
        [[x, y, 0.25 * math.sin(x + 0.7 * k) * (y + k)] for y in range(along) for x in range(across)]
        for k in range(5)
    ]
    faces = [
        [y * across + x, y * across + x + 1, (y + 1) * across + x + 1, (y + 1) * across + x]
        for y in range(along - 1)
        for x in range(across - 1)
    ]
    # The right half has UVs of its own, so that the points in the middle column have two.
    values = [[x / 4, y / 3] for y in range(along) for x in range(across)]
    values += [[u + 1, v] for u, v in values]
    indices = []
    for face in clockwise(faces):
        right = min(point % across for point in face) >= 2
        indices += [point + (across * along if right else 0) for point in face]
    uvs = AbcGeom.OV2fGeomParamSample(
        pairs(values), ints(indices, imath.UnsignedIntArray), AbcGeom.GeometryScope.kFacevaryingScope
    )
    up = AbcGeom.ON3fGeomParamSample(points([[0, 0, 1]] * len(values[: across * along])), AbcGeom.GeometryScope.kVertexScope)
    sheet = mesh(archive.getTop(), "sheet", shapes, faces, even(archive), uvs, up)
    for name, chosen in (("linen", range(6)), ("silk", range(6, 12))):
        face_set = sheet.getSchema().createFaceSet(name)
        face_set.getSchema().set(AbcGeom.OFaceSetSchemaSample(ints(list(chosen))))


def machine(path):
    """Boxes that transforms of every kind move, in a hierarchy, for four frames; one has moving points, too; one does not
    inherit; one is mirrored; and one stands still. A camera moves at times of its own."""
    archive = Abc.OArchive(path)
    top = archive.getTop()
    frames = range(4)
    base = transform(
        top,
        "base",
        [
            [
                ("translate", [k, 2 * k, -1]),
                ("rotate", ([1, 2, 2], 20 * k)),
                ("scale", [1 + k / 4, 1, 1 - k / 8]),
            ]
            for k in frames
        ],
        even(archive),
    )
    mesh(base, "block", [BOX], BOX_FACES)
    arm = transform(
        base,
        "arm",
        [[("x", 10 * k), ("y", 20), ("z", -15 * k), ("translate", [0, 3, 0])] for k in frames],
        even(archive),
    )
    mesh(arm, "hand", [[[x * (1 + k / 10), y, z + k / 3] for x, y, z in BOX] for k in frames], BOX_FACES, even(archive))
    sheared = [[[1, 0.5 * k, 0, 0], [0, 1, 0.25, 0], [0, 0, 2, 0], [3, 0, k, 1]] for k in frames]
    free = transform(arm, "free", [[("matrix", matrix)] for matrix in sheared], even(archive), inherits=False)
    mesh(free, "block", [BOX], BOX_FACES)
    mirror = transform(top, "mirror", [[("scale", [-1, 1, 1])]])
    mesh(mirror, "mirrored", [[[x + 5, y, z] for x, y, z in BOX]], BOX_FACES)
    mesh(top, "still", [BOX], BOX_FACES)
    dolly = transform(top, "dolly", [[("translate", [k, 0, 9])] for k in range(9)], even(archive, step=FRAME / 3))
    AbcGeom.OCamera(dolly, "camera")


def samplings(path):
    """Three boxes: one sampled at uneven times, one twice in each cycle of a second, one evenly."""
    archive = Abc.OArchive(path)
    top = archive.getTop()

    def moved(by):
        return [[x, y, z + by] for x, y, z in BOX]

    mesh(top, "uneven", [moved(k) for k in (0, 1, 4)], BOX_FACES, at_times(archive, [0, 0.5, 2]))
    mesh(top, "cyclic", [moved(10 + k) for k in range(5)], BOX_FACES, at_times(archive, [0, 0.25], cycle=1))
    even_one = transform(top, "even", [[("translate", [k, 0, 0])] for k in range(3)], even(archive, 0, 1))
    mesh(even_one, "box", [BOX], BOX_FACES)


def unchanging(path):
    """A box in six samples of which only the middle ones differ, and no times: Alembic's default sampling."""
    archive = Abc.OArchive(path)
    shapes = [[[x, y, z + by] for x, y, z in BOX] for by in (0, 0, 1, 2, 2, 2)]
    mesh(archive.getTop(), "box", shapes, BOX_FACES)


def others(path):
    """What dermis does not read, beside what it does: curves, points, a mesh whose faces change, a subdivision surface."""
    archive = Abc.OArchive(path)
    top = archive.getTop()
    curves = AbcGeom.OCurves(top, "hair")
    curves.getSchema().set(
        AbcGeom.OCurvesSchemaSample(points(BOX), ints([8]), AbcGeom.CurveType.kLinear, AbcGeom.CurvePeriodicity.kNonPeriodic)
    )
    dust = AbcGeom.OPoints(top, "dust")
    dust.getSchema().set(AbcGeom.OPointsSchemaSample(points(BOX)))
    mesh(top, "melting", [BOX, BOX], [BOX_FACES, BOX_FACES[:5]], even(archive))
    mesh(top, "smooth", [BOX], BOX_FACES, kind="SubD")


def melting(path):
    """Only a mesh whose faces change."""
    archive = Abc.OArchive(path)
    mesh(archive.getTop(), "melting", [BOX, BOX], [BOX_FACES, BOX_FACES[:5]], even(archive))


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for make in (cloth, machine, samplings, unchanging, others, melting):
        path = os.path.join(folder, make.__name__ + ".abc")
        make(path)
        print(path, os.path.getsize(path), "bytes")


if __name__ == "__main__":
    main(sys.argv[1])
