// Plays a GLB with three.js: node three_positions.mjs FILE CLIP|- TIME...
//
// Prints a JSON array with one entry per time: a list of drawn primitives in file order, each with
// its name and its vertices' positions in world space as one flat list. `-` plays nothing: the
// file's default pose. three reads only JOINTS_0 and WEIGHTS_0 and scales those weights to sum to 1.

import { Vector3 } from 'three';
import { load, poseAt, primitivesOf } from './three_player.mjs';

const [file, clipName, ...times] = process.argv.slice(2);
const gltf = await load(file);
const shown = times.map((time) => {
  poseAt(gltf, clipName, Number(time));
  return primitivesOf(gltf.scene, positions);
});
console.log(JSON.stringify(shown));

function positions(object) {
  const result = [];
  const vertex = new Vector3();
  for (let i = 0; i < object.geometry.attributes.position.count; i++) {
    if (object.isMesh) object.getVertexPosition(i, vertex);
    else vertex.fromBufferAttribute(object.geometry.attributes.position, i);
    result.push(...vertex.applyMatrix4(object.matrixWorld).toArray());
  }
  return result;
}
