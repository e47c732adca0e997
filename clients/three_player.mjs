// What the scripts that use three.js share: loading a GLB, posing it, walking its primitives.

import { readFile } from 'node:fs/promises';
import { AnimationMixer, LoopOnce } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

// The file as three.js loads it, without its materials.
export async function load(file) {
  const bytes = withoutLooks(await readFile(file));
  return new Promise((resolve, reject) => new GLTFLoader().parse(bytes, '', resolve, reject));
}

// Poses the scene at a time of a clip; `-` is the default pose.
export function poseAt(gltf, clipName, time) {
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
}

// Every drawn primitive in file order, with the positions that a function gives for it, and the spheres
// of its mesh and of its own that the file has in extras.
export function primitivesOf(scene, positions) {
  const primitives = [];
  scene.traverse((object) => {
    if (!object.geometry) return;
    primitives.push({
      name: object.name,
      positions: positions(object),
      spheres: [object, object.geometry].map((holder) => holder.userData.boundingSphere),
    });
  });
  return primitives;
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
