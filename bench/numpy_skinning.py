"""Linear blend skinning of positions and normals in numpy, as one would write it: ns per vertex.

Usage: numpy_skinning.py [VERTICES [INFLUENCES [BONES]]]    prints one line of JSON
"""

import json
import os
import sys
import time

# One thread, as for everything it is compared with.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np

vertices, influences, bones = (int(a) for a in (sys.argv[1:] + ["100000", "4", "100"][len(sys.argv) - 1 :]))
random = np.random.default_rng(1)
rest = random.standard_normal((vertices, 4)).astype(np.float32)
rest[:, 3] = 1
normals = random.standard_normal((vertices, 3)).astype(np.float32)
joints = random.integers(0, bones, (vertices, influences))
weights = random.random((vertices, influences)).astype(np.float32)
weights /= weights.sum(1, keepdims=True)
palette = random.standard_normal((bones, 3, 4)).astype(np.float32)


def skin():
    """Blends the matrices of every vertex, then applies them."""
    blended = np.einsum("vk,vkij->vij", weights, palette[joints])
    posed = np.einsum("vij,vj->vi", blended, rest)
    turned = np.einsum("vij,vj->vi", blended[:, :, :3], normals)
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    return posed, turned


skin()
best = min(
    (lambda start: (skin(), time.perf_counter() - start)[1])(time.perf_counter()) for _ in range(7)
)
print(json.dumps({"peer": f"numpy {np.__version__} einsum", "nsPerVertex": 1e9 * best / vertices}))
