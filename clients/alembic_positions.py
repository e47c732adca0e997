"""Reads an Alembic file with the official library: python alembic_positions.py FILE TIME... > positions.json

Prints a JSON array with one entry per time: a list of meshes in the order of the file, each with the names of its
ancestors and its own as `name`, and its points in world space as one flat list. `positions` is null where the mesh or
something above it was not sampled at that time: what is shown between samples is each program's own choice. Times are
in seconds.
"""

import json
import sys

import imath
from alembic3d import Abc, AbcGeom

SAME_TIME = 1e-7


def main(path: str, times: list[float]) -> list:
    top = Abc.IArchive(path).getTop()
    meshes = list(meshes_in(top, []))
    return [[mesh_at(mesh, above, time) for mesh, above in meshes] for time in times]


def meshes_in(parent, above):
    """Every mesh with the transforms above it, outermost first."""
    for k in range(parent.getNumChildren()):
        child = parent.getChild(k)
        header = child.getHeader()
        inner = above
        for kind in (AbcGeom.IPolyMesh, AbcGeom.ISubD):
            if kind.matches(header):
                yield kind(parent, child.getName()), above
        if AbcGeom.IXform.matches(header):
            inner = [*above, AbcGeom.IXform(parent, child.getName())]
        yield from meshes_in(child, inner)


def sample_at(schema, time: float):
    """The sample that was taken at a time; None where there is none."""
    sampling = schema.getTimeSampling()
    taken = [sampling.getSampleTime(index) for index in range(schema.getNumSamples())]
    if schema.isConstant():
        taken = [time]
    if all(abs(other - time) > SAME_TIME for other in taken):
        return None
    # By its time, which is a float: the bindings take a whole number for a time, too.
    return schema.getValue(Abc.ISampleSelector(float(time)))


def mesh_at(mesh, above, time: float) -> dict:
    name = mesh.getFullName()
    # Row vectors: what is nearest to the mesh comes first.
    whole = imath.M44d()
    for transform in reversed(above):
        sample = sample_at(transform.getSchema(), time)
        if sample is None:
            return {"name": name, "positions": None}
        whole = whole * sample.getMatrix()
        if not sample.getInheritsXforms():
            break
    sample = sample_at(mesh.getSchema(), time)
    if sample is None:
        return {"name": name, "positions": None}
    positions = []
    for point in sample.getPositions():
        moved = imath.V3d(point.x, point.y, point.z) * whole
        positions += [moved.x, moved.y, moved.z]
    return {"name": name, "positions": positions}


if __name__ == "__main__":
    json.dump(main(sys.argv[1], [float(time) for time in sys.argv[2:]]), sys.stdout)
