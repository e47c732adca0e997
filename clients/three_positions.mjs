// Plays a GLB with three.js: node three_positions.mjs FILE CLIP|- TIME...
//
// Prints a JSON array with one entry per time: a list of drawn primitives in file order, each with
// its name and its vertices' positions in world space as one flat list. `-` plays nothing: the
// file's default pose. three reads only JOINTS_0 and WEIGHTS_0 and scales those weights to sum to 1.

import { readFile } from 'node:fs/promises';
import { AnimationMixer, LoopOnce, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

const [file, clipName, ...times] = process.argv.slice(2);
const gltf = await load(withoutLooks(await readFile(file)));
console.log(JSON.stringify(times.map((time) => positionsAt(Number(time)))));

function positionsAt(time) {
  if (clipName !== '-') {
    const clip = gltf.animations.find((animation) => animation.name === clipName);
    if (!clip) throw new Error(`no clip ${clipName}`);
    // A new mixer each time: a finished action stays paused. LoopOnce, because a looping one shows
    // the first frame at the end of the clip.
    const mixer = new AnimationMixer(gltf.scene);
    const action = mixer.clipAction(clip);
    action.setLoop(LoopOnce, 1);
    action.clampWhenFinished = true;
    action.play();
    mixer.setTime(time);
  }
  gltf.scene.updateMatrixWorld(true);
  const primitives = [];
  gltf.scene.traverse((object) => {
    if (!object.geometry) return;
    const positions = [];
    const vertex = new Vector3();
    for (let i = 0; i < object.geometry.attributes.position.count; i++) {
      if (object.isMesh) object.getVertexPosition(i, vertex);
      else vertex.fromBufferAttribute(object.geometry.attributes.position, i);
      positions.push(...vertex.applyMatrix4(object.matrixWorld).toArray());
    }
    primitives.push({ name: object.name, positions });
  });
  return primitives;
}

function load(bytes) {
  return new Promise((resolve, reject) => new GLTFLoader().parse(bytes, '', resolve, reject));
}

// Node cannot decode pictures, and positions do not need them: the same GLB without materials.
function withoutLooks(bytes) {
  const jsonLength = bytes.readUInt32LE(12);
  const json = JSON.parse(bytes.subarray(20, 20 + jsonLength).toString('utf8'));
  for (const name of ['materials', 'textures', 'samplers', 'images', 'extensionsRequired']) {
    delete json[name];
  }
  for (const mesh of json.meshes) for (const primitive of mesh.primitives) delete primitive.material;
  let text = Buffer.from(JSON.stringify(json), 'utf8');
  text = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, ' ')]);
  const rest = bytes.subarray(20 + jsonLength);
  const head = Buffer.alloc(20);
  bytes.copy(head, 0, 0, 20);
  head.writeUInt32LE(20 + text.length + rest.length, 8);
  head.writeUInt32LE(text.length, 12);
  return new Uint8Array(Buffer.concat([head, text, rest])).buffer;
}
