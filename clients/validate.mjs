// Runs the Khronos glTF validator: node validate.mjs FILE...
//
// Prints one JSON array with an object per file: the file, numErrors, numWarnings, and the messages
// of severity 0 (error) and 1 (warning). The exit code is 0 even when a file is invalid, so that a
// caller can tell "invalid" from "could not run".

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import validator from 'gltf-validator';

const reports = [];
for (const file of process.argv.slice(2)) {
  const bytes = new Uint8Array(await readFile(file));
  const report = await validator.validateBytes(bytes, {
    uri: file,
    maxIssues: 0,
    externalResourceFunction: async (uri) =>
      new Uint8Array(await readFile(join(dirname(file), decodeURIComponent(uri)))),
  });
  reports.push({
    file,
    numErrors: report.issues.numErrors,
    numWarnings: report.issues.numWarnings,
    messages: report.issues.messages.filter((message) => message.severity <= 1),
  });
}
console.log(JSON.stringify(reports));
