#!/usr/bin/env python3
"""Cuts the arm of `dermis demo` out of MakeHuman's base mesh: writes crates/dermis/assets/human_arm.txt.

    python3 scripts/make_demo_arm.py FOLDER_OF_MAKEHUMAN_DATA > crates/dermis/assets/human_arm.txt

The folder has base.obj, default.mhskel and default_weights.mhw, as in makehuman/data of
https://github.com/makehumancommunity/makehuman (all CC0). Only Python's own modules are used, and the same
files give the same bytes. What is done, in this order:

1. The left arm with the shoulder and a part of the chest is kept: what lies within a cylinder about the shoulder, or
   moves with the arm. Faces are cut where they cross it.
2. Twist and helper bones are merged into those of an ordinary game rig, and with them their painted weights.
3. The elbow, bent by 46 degrees in MakeHuman, is opened to 12: a rest pose as riggers like it.
4. One step of Catmull-Clark subdivision, except of the hand, which is fine enough; weights are subdivided like
   positions, and each point keeps its four largest.
5. Units become metres, heights count from the floor; y is up and the character looks along +z.
"""

import json
import math
import sys

ELBOW_AT_REST = math.radians(12)
# Points of base.obj after these are helpers.
BODY_POINTS = 13380
# Half the length of arm over which the elbow is opened, in metres.
ELBOW_REACH = 0.05
# The cut: a cylinder along z, its axis at this x and y, and its radius.
CUT_CENTER, CUT_RADIUS = (0.185, 0.470), 0.150
# Points this near to the cut are moved onto it, in metres.
SNAP = 0.004
# Lowest point of the feet, so that heights count from the floor.
FLOOR = -0.81676

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
# Bone, parent, MakeHuman's bones that become it, and where it begins and ends.
BONES = [
    ("chest", "-", (), "spine01____head", "spine01____tail"),
    ("clavicle", "chest", ("clavicle.L", "shoulder01.L"), "clavicle.L____head", "upperarm01.L____head"),
    ("upper_arm", "clavicle", ("upperarm01.L", "upperarm02.L"), "upperarm01.L____head", "lowerarm01.L____head"),
    ("forearm", "upper_arm", ("lowerarm01.L", "lowerarm02.L"), "lowerarm01.L____head", "wrist.L____head"),
    ("hand", "forearm", ("wrist.L",) + tuple(f"metacarpal{k}.L" for k in range(1, 5)), "wrist.L____head",
     "finger3-1.L____head"),
]
for number, finger in enumerate(FINGERS, 1):
    for joint in (1, 2, 3):
        old = f"finger{number}-{joint}.L"
        parent = "hand" if joint == 1 else f"{finger}_{joint - 1}"
        BONES.append((f"{finger}_{joint}", parent, (old,), f"{old}____head", f"{old}____tail"))


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def scaled(a, s):
    return [x * s for x in a]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a):
    return scaled(a, 1 / math.sqrt(dot(a, a)))


def turned(point, center, axis, angle):
    """Rodrigues' formula about an axis through a point."""
    v, c, s = sub(point, center), math.cos(angle), math.sin(angle)
    along = scaled(axis, dot(axis, v) * (1 - c))
    return add(center, add(add(scaled(v, c), scaled(cross(axis, v), s)), along))


def read_obj(path):
    points, faces, group = [], [], None
    for line in open(path):
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            points.append([0.1 * float(x) for x in words[1:4]])
        elif words[0] == "g":
            group = words[1]
        elif words[0] == "f" and group == "body":
            faces.append([int(corner.split("/")[0]) - 1 for corner in words[1:]])
    return points, faces


def part_with_the_arm(points, faces, rows):
    """Faces of the one piece that hangs together with the hand; points on the cut are added, with their weights."""
    def inside(i):
        """How far a point is inside the cylinder; everything that moves with the arm is."""
        from_center = math.hypot(points[i][0] - CUT_CENTER[0], points[i][1] - CUT_CENTER[1])
        on_arm = sum(w for j, w in rows[i].items() if j >= 2)
        return 1.0 if on_arm > 0.5 else CUT_RADIUS - from_center

    depth = [inside(i) for i in range(len(rows))]
    # Points near the cut are moved onto it: no slivers.
    for i in range(len(rows)):
        if abs(depth[i]) < SNAP:
            scale = CUT_RADIUS / (CUT_RADIUS - depth[i])
            points[i] = [c + scale * (x - c) for x, c in zip(points[i], CUT_CENTER)] + [points[i][2]]
            depth[i] = 0.0
    new = {}

    def on_cut(a, b):
        a, b = min(a, b), max(a, b)
        if (a, b) not in new:
            t = depth[a] / (depth[a] - depth[b])
            new[a, b] = len(points)
            points.append(add(scaled(points[a], 1 - t), scaled(points[b], t)))
            rows.append({j: (1 - t) * rows[a].get(j, 0.0) + t * rows[b].get(j, 0.0) for j in {**rows[a], **rows[b]}})
        return new[a, b]

    kept = []
    for f in faces:
        corners = []
        for k, i in enumerate(f):
            before = f[k - 1]
            if depth[before] * depth[i] < 0:
                corners.append(on_cut(before, i))
            if depth[i] >= 0:
                corners.append(i)
        if len(corners) > 2 and any(i < len(depth) and depth[i] > 0 for i in corners):
            kept.append(corners)
    faces_of = {}
    for f in kept:
        for i in f:
            faces_of.setdefault(i, []).append(f)
    start = max(faces_of, key=lambda i: points[i][0])
    reached, queue = {start}, [start]
    while queue:
        for f in faces_of[queue.pop()]:
            for i in f:
                if i not in reached:
                    reached.add(i)
                    queue.append(i)
    return [f for f in kept if f[0] in reached]


def merged_weights(weights, old_of, count):
    """For every point, weights of the new bones that sum to 1."""
    new_of = {old: j for j, bone in enumerate(old_of) for old in bone}
    rows = [dict() for _ in range(count)]
    for bone, pairs in weights.items():
        j = new_of.get(bone, 0)
        for i, w in pairs:
            if i < count and w > 0:
                rows[i][j] = rows[i].get(j, 0.0) + w
    for row in rows:
        total = sum(row.values())
        if total == 0:
            row[0] = total = 1.0
        for j in row:
            row[j] /= total
    return rows


def in_thousandths(row):
    """The four largest weights, in thousandths that sum to 1000."""
    largest = sorted(row.items(), key=lambda jw: (-jw[1], jw[0]))[:4]
    total = sum(w for _, w in largest)
    parts = [[j, round(1000 * w / total)] for j, w in largest]
    parts[0][1] += 1000 - sum(w for _, w in parts)
    return [(j, w) for j, w in parts if w > 0]


def subdivided(faces, is_fine):
    """One step of Catmull-Clark where faces are not fine already.

    Returns the new faces, whose corners are keys, and for each key the old points and their shares.
    """
    edge_faces, point_faces, neighbors, border = {}, {}, {}, {}
    for n, f in enumerate(faces):
        for k, i in enumerate(f):
            edge_faces.setdefault(frozenset((f[k - 1], i)), []).append(n)
            point_faces.setdefault(i, []).append(n)
            neighbors.setdefault(i, set()).add(f[k - 1])
            neighbors.setdefault(f[k - 1], set()).add(i)
    for edge, around in edge_faces.items():
        if len(around) == 1:
            for i in edge:
                border.setdefault(i, []).extend(edge - {i})

    def mean(parts):
        result = {}
        for weight, shares in parts:
            for i, s in sorted(shares.items()):
                result[i] = result.get(i, 0.0) + weight * s
        return result

    middle = [{i: 1 / len(f) for i in f} for f in faces]

    def on_edge(edge):
        ends = {i: 0.5 for i in edge}
        around = edge_faces[edge]
        if len(around) == 1:
            return ends
        return mean([(0.5, ends)] + [(0.25, middle[n]) for n in around])

    def on_point(i):
        if i in border:
            return mean([(0.75, {i: 1.0})] + [(0.125, {j: 1.0}) for j in border[i]])
        n = len(point_faces[i])
        faces_part = [(1 / n / n, middle[k]) for k in point_faces[i]]
        edges_part = [(2 / n / n, {i: 0.5, j: 0.5}) for j in sorted(neighbors[i])]
        return mean(faces_part + edges_part + [((n - 3) / n, {i: 1.0})])

    keys, result = {}, []
    for n, f in enumerate(faces):
        edges = [frozenset((f[k - 1], i)) for k, i in enumerate(f)]
        if not is_fine[n]:
            for k, i in enumerate(f):
                after = edges[(k + 1) % len(f)]
                result.append([("point", i), ("edge", after), ("face", n), ("edge", edges[k])])
        else:
            # A fine face takes in the new points of its coarse neighbours.
            corners = []
            for k, i in enumerate(f):
                if any(not is_fine[other] for other in edge_faces[edges[k]]):
                    corners.append(("edge", edges[k]))
                corners.append(("point", i))
            result.append(corners)
    for f in result:
        for kind, of in f:
            if (kind, of) in keys:
                continue
            if kind == "face":
                keys[kind, of] = middle[of]
            elif kind == "edge":
                keys[kind, of] = on_edge(of)
            elif all(is_fine[n] for n in point_faces[of]):
                keys[kind, of] = {of: 1.0}
            else:
                keys[kind, of] = on_point(of)
    return result, keys


def by_diagonal(face, points):
    """A face's corners in an order whose fan of triangles is not folded, if there is one, and has short diagonals."""
    def cost(corners):
        p = [points[i] for i in corners]
        normals = [cross(sub(p[k], p[0]), sub(p[k + 1], p[0])) for k in range(1, len(p) - 1)]
        whole = [sum(c) for c in zip(*normals)]
        folds = sum(dot(normal, whole) <= 0 for normal in normals)
        return folds, sum(dot(*[sub(q, p[0])] * 2) for q in p[2:-1])

    return min((face[k:] + face[:k] for k in range(len(face))), key=cost)


def main(folder):
    points, faces = read_obj(f"{folder}/base.obj")
    rig = json.load(open(f"{folder}/default.mhskel"))
    weights = json.load(open(f"{folder}/default_weights.mhw"))["weights"]
    joints = {name: scaled([sum(points[i][c] for i in corners) for c in range(3)], 1 / len(corners))
              for name, corners in rig["joints"].items()}
    del points[BODY_POINTS:]
    rows = merged_weights(weights, [old for _, _, old, _, _ in BONES], len(points))
    faces = part_with_the_arm(points, faces, rows)

    # Everything below the elbow turns about its hinge; around the elbow by a share that grows evenly along the arm.
    shoulder, elbow, wrist = (joints[f"{b}.L____head"] for b in ("upperarm01", "lowerarm01", "wrist"))
    upper, lower = unit(sub(elbow, shoulder)), unit(sub(wrist, elbow))
    hinge = unit(cross(upper, lower))
    along = unit(add(upper, lower))
    open_by = ELBOW_AT_REST - math.acos(dot(upper, lower))
    below = {j for j, bone in enumerate(BONES) if bone[0] not in ("chest", "clavicle", "upper_arm")}
    for i in sorted({i for f in faces for i in f}):
        place = (dot(sub(points[i], elbow), along) + ELBOW_REACH) / (2 * ELBOW_REACH)
        place = min(max(place, 0.0), 1.0) if points[i][0] > shoulder[0] else 0.0
        share = place * place * (3 - 2 * place)
        points[i] = turned(points[i], elbow, hinge, share * open_by)
    heads = [turned(joints[head], elbow, hinge, open_by) if j in below else joints[head]
             for j, (_, _, _, head, _) in enumerate(BONES)]
    tails = [turned(joints[tail], elbow, hinge, open_by) if j in below | {2} else joints[tail]
             for j, (_, _, _, _, tail) in enumerate(BONES)]

    # Hinges: positive angles lift the clavicle, bend the elbow, and close the hand.
    across = unit(sub(heads[5 + 3], heads[5 + 12]))  # from the little finger's knuckle to the index finger's
    flexion = unit(scaled(across, -1.0))
    axes = []
    for j, (name, *_rest) in enumerate(BONES):
        if name in ("chest", "clavicle"):
            axes.append([0.0, 0.0, 1.0])
        elif name in ("upper_arm", "forearm"):
            axes.append(hinge)
        elif name.startswith("thumb"):
            first, second = unit(sub(tails[5], heads[5])), unit(sub(tails[7], heads[7]))
            axes.append(unit(cross(first, second)))
        else:
            axes.append(flexion)

    of_hand = {j for j in below if BONES[j][0] != "forearm"}
    is_fine = [all(sum(w for j, w in rows[i].items() if j in of_hand) > 0.5 for i in f) for f in faces]
    faces, shares = subdivided(faces, is_fine)
    number = {key: n for n, key in enumerate(shares)}
    mixed = lambda parts: [sum(s * points[i][c] for i, s in parts.items()) for c in range(3)]
    new_points = [mixed(parts) for parts in shares.values()]
    new_rows = []
    for parts in shares.values():
        row = {}
        for i, s in parts.items():
            for j, w in rows[i].items():
                row[j] = row.get(j, 0.0) + s * w
        new_rows.append(in_thousandths(row))
    new_faces = [by_diagonal([number[key] for key in f], new_points) for f in faces]

    metres = lambda p: " ".join(str(round(1e5 * x)) for x in (p[0], p[1] - FLOOR, p[2]))
    print("# The left arm of MakeHuman's base mesh (github.com/makehumancommunity/makehuman, CC0), cut out and rigged by")
    print("# scripts/make_demo_arm.py. Lengths in hundredths of a millimetre, weights in thousandths.")
    print("# bone NAME PARENT HEAD TAIL HINGE")
    for j, (name, parent, *_rest) in enumerate(BONES):
        hinge_text = " ".join(str(round(1e5 * x)) for x in axes[j])
        print(f"bone {name} {parent} {metres(heads[j])} {metres(tails[j])} {hinge_text}")
    print("# v X Y Z, then bones and weights")
    for point, row in zip(new_points, new_rows):
        pairs = " ".join(f"{j} {w}" for j, w in row)
        print(f"v {metres(point)} {pairs}")
    print("# f corners, anticlockwise from outside; a fan of triangles about the first")
    for f in new_faces:
        print("f " + " ".join(map(str, f)))
    triangles = sum(len(f) - 2 for f in new_faces)
    print(f"{len(new_points)} points, {triangles} triangles, {len(BONES)} bones", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
