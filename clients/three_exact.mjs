// Evaluates the skins of a GLB from what three.js loaded: node three_exact.mjs FILE CLIP|- TIME...
//
// Prints JSON as three_positions.mjs does, but with the vertices posed here: by animation-space
// vectors (_AS_n, _ASJ_n), by twelve weights per joint (_MW_n, _MWJ_n, _MWR), or, in a file without
// such attributes, by all sets of plain weights and not only by set 0. It shows that another program
// needs no more than these few lines to play an exact skin. Morph targets displace the rest shape of
// each, by the weights that the clip has for them.

import { Matrix4, Vector3, Vector4 } from 'three';
import { load, poseAt, primitivesOf } from './three_player.mjs';

const [file, clipName, ...times] = process.argv.slice(2);
const gltf = await load(file);
const shown = times.map((time) => {
  poseAt(gltf, clipName, Number(time));
  return primitivesOf(gltf.scene, positions);
});
console.log(JSON.stringify(shown));

function positions(mesh) {
  const attributes = mesh.geometry.attributes;
  const bones = mesh.skeleton.bones.map((bone) => bone.matrixWorld);
  const deform = attributes._as_0 ? animationSpace : attributes._mw_0 ? multiWeight : plain;
  const result = [];
  for (let i = 0; i < attributes.position.count; i++) {
    const moved = displacement(mesh, i);
    result.push(...deform(attributes, i, bones, mesh.skeleton.boneInverses, moved).toArray());
  }
  return result;
}

// What the morph targets add to the rest position of a vertex: a direction, whose fourth number is 0.
function displacement(mesh, i) {
  const sum = new Vector4(0, 0, 0, 0);
  (mesh.geometry.morphAttributes.position ?? []).forEach((target, m) => {
    const delta = new Vector4().fromBufferAttribute(target, i).setW(0);
    sum.addScaledVector(delta, mesh.morphTargetInfluences[m]);
  });
  return sum;
}

// v = sum of G_j (p_j + w_j B_j d), where p_j has the weight w_j as its fourth number, B_j is the
// inverse bind matrix and d the displacement.
function animationSpace(attributes, i, bones, inverses, moved) {
  const v = new Vector4(0, 0, 0, 0);
  for (let slot = 0; attributes[`_as_${slot}`]; slot++) {
    const j = joint(attributes, '_asj', i, slot);
    const p = new Vector4().fromBufferAttribute(attributes[`_as_${slot}`], i);
    p.addScaledVector(moved.clone().applyMatrix4(inverses[j]), p.w);
    v.add(p.applyMatrix4(bones[j]));
  }
  return new Vector3(v.x, v.y, v.z);
}

// v = sum of (W_j * N_j) (v0 + d), where * multiplies entry by entry and N_j = G_j times the inverse
// bind.
function multiWeight(attributes, i, bones, inverses, moved) {
  const rest = new Vector4().fromBufferAttribute(attributes._mwr, i).add(moved);
  const v = new Vector3();
  for (let slot = 0; attributes[`_mw_${3 * slot}`]; slot++) {
    const j = joint(attributes, '_mwj', i, slot);
    const n = new Matrix4().multiplyMatrices(bones[j], inverses[j]).transpose().elements;
    for (let row = 0; row < 3; row++) {
      const weights = attributes[`_mw_${3 * slot + row}`];
      for (let column = 0; column < 4; column++) {
        const term = weights.getComponent(i, column) * n[4 * row + column];
        v.setComponent(row, v.getComponent(row) + term * rest.getComponent(column));
      }
    }
  }
  return v;
}

// All sets of joints and weights. The loader has scaled set 0 to sum to 1 without asking whether
// there are others; what those leave of 1 is what it was.
function plain(attributes, i, bones, inverses, moved) {
  const rest = new Vector4().fromBufferAttribute(attributes.position, i).setW(1).add(moved);
  const v = new Vector4(0, 0, 0, 0);
  let left = 1;
  const add = (joints, weights, scale) => {
    for (let place = 0; place < 4; place++) {
      const weight = scale * weights.getComponent(i, place);
      left -= weight;
      const j = joints.getComponent(i, place);
      v.addScaledVector(rest.clone().applyMatrix4(inverses[j]).applyMatrix4(bones[j]), weight);
    }
  };
  for (let set = 1; attributes[`joints_${set}`]; set++) {
    add(attributes[`joints_${set}`], attributes[`weights_${set}`], 1);
  }
  add(attributes.skinIndex, attributes.skinWeight, left);
  return new Vector3(v.x, v.y, v.z);
}

function joint(attributes, name, i, slot) {
  return attributes[`${name}_${Math.floor(slot / 4)}`].getComponent(i, slot % 4);
}
