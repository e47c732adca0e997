// CPU skinning of positions with three's own SkinnedMesh.applyBoneTransform, in Node: ns per vertex.
//
// Usage: node three_skinning.mjs [VERTICES [BONES]]    prints one line of JSON
// three is found in ../clients/node_modules.

import * as THREE from '../clients/node_modules/three/build/three.module.js';

const [vertices, bones] = [Number(process.argv[2] ?? 100000), Number(process.argv[3] ?? 100)];
let state = 1;
const random = () => (state = (state * 16807) % 2147483647) / 2147483647;

const geometry = new THREE.BufferGeometry();
const floats = (count, value) => Float32Array.from({ length: count }, value);
geometry.setAttribute('position', new THREE.BufferAttribute(floats(3 * vertices, random), 3));
const joints = Uint16Array.from({ length: 4 * vertices }, () => Math.floor(random() * bones));
geometry.setAttribute('skinIndex', new THREE.BufferAttribute(joints, 4));
geometry.setAttribute('skinWeight', new THREE.BufferAttribute(floats(4 * vertices, random), 4));

const mesh = new THREE.SkinnedMesh(geometry, new THREE.MeshBasicMaterial());
mesh.normalizeSkinWeights();
const nodes = Array.from({ length: bones }, () => new THREE.Bone());
mesh.bind(new THREE.Skeleton(nodes), new THREE.Matrix4());
nodes.forEach((node) => node.rotation.set(random(), random(), random()));
nodes.forEach((node) => node.updateMatrixWorld(true));
mesh.skeleton.update();

const out = new Float32Array(3 * vertices);
const target = new THREE.Vector3();
const skin = () => {
    const position = geometry.attributes.position;
    for (let v = 0; v < vertices; v++) {
        mesh.applyBoneTransform(v, target.fromBufferAttribute(position, v));
        target.toArray(out, 3 * v);
    }
};
let best = Infinity;
for (let round = 0; round < 7; round++) {
    const start = process.hrtime.bigint();
    skin();
    best = Math.min(best, Number(process.hrtime.bigint() - start));
}
const peer = `three r${THREE.REVISION} applyBoneTransform (positions only)`;
console.log(JSON.stringify({ peer, nsPerVertex: best / vertices }));
