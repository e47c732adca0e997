"""Plays a GLB with Blender: python blender_positions.py FILE CLIP|- TIME... > positions.json

Prints a JSON array with one entry per time: a list of mesh objects, sorted by name, each with its
name, its vertices' positions in glTF's axes as one flat list, and `orig`, the `_ORIG` attribute of
each vertex (its first number, when it is four wide), or null when the file has none. `-` plays
nothing. Times are in seconds; they should be key times, because Blender interpolates rotations
component by component between keys.

Blender keeps the vertices of a mesh in file order, primitive after primitive, but leaves out those
that no triangle uses.
"""

import json
import os
import sys

import bpy


def main(path: str, clip: str, times: list[float]) -> list:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # Without the extra mesh that makes bones look round, which is not in the file.
    bpy.ops.import_scene.gltf(filepath=path, merge_vertices=False, disable_bone_shape=True)
    widen_sliders()
    choose_clip(None if clip == "-" else clip)
    return [positions_at(time) for time in times]


def widen_sliders() -> None:
    """Shape keys are clamped to their range, which the importer of Blender 5.0 widens from 0..1 for
    the first key of a clip alone: weights below 0 later on would be shown as 0."""
    for keys in bpy.data.shape_keys:
        for block in keys.key_blocks:
            block.slider_min, block.slider_max = -10.0, 10.0


def choose_clip(clip: str | None) -> None:
    """The importer leaves every animation as a muted track; only the chosen one shall play."""
    found = False
    for owner in [*bpy.data.objects, *bpy.data.shape_keys]:
        data = owner.animation_data
        if data is None:
            continue
        data.action = None
        for track in data.nla_tracks:
            track.mute = track.name != clip
            found |= track.name == clip
            for strip in track.strips:
                # It begins at the scene's first frame, 1, whatever the time of its first key.
                strip.frame_start_ui = strip.action_frame_start
    if clip is not None and not found:
        raise SystemExit(f"no clip {clip}: {[a.name for a in bpy.data.actions]}")


def point_number(value) -> float:
    """`_ORIG` is one number, or the first of four, which Blender takes for a colour."""
    return value.value if hasattr(value, "value") else value.color[0]


def positions_at(time: float) -> list:
    scene = bpy.context.scene
    frame = time * scene.render.fps / scene.render.fps_base
    whole = int(frame)
    scene.frame_set(whole, subframe=frame - whole)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    meshes = []
    # What the scene shows: the importer keeps nodes that no scene has in a collection that is switched off.
    for thing in sorted(bpy.context.view_layer.objects, key=lambda thing: thing.name):
        if thing.type != "MESH":
            continue
        evaluated = thing.evaluated_get(depsgraph)
        mesh = evaluated.to_mesh()
        positions = []
        for vertex in mesh.vertices:
            x, y, z = evaluated.matrix_world @ vertex.co
            positions += [x, z, -y]  # back from Blender's z-up
        orig = mesh.attributes.get("_ORIG")
        meshes.append(
            {
                "name": thing.name,
                "positions": positions,
                "orig": orig and [point_number(value) for value in orig.data],
            }
        )
        evaluated.to_mesh_clear()
    return meshes


if __name__ == "__main__":
    # Blender prints to standard output while it imports; only the result shall go there.
    result = os.dup(1)
    os.dup2(2, 1)
    value = main(sys.argv[1], sys.argv[2], [float(time) for time in sys.argv[3:]])
    with os.fdopen(result, "w") as out:
        json.dump(value, out)
