// @ts-check
// Compresses the files of a built site once, as small as it gets, instead of on every response.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { listFiles } from "./files.mjs";

/** Files that browsers load. Text for agents and licences stay as they are, because few read them. */
const COMPRESSED = /\.(?:js|css|html|svg)$/;
const ENCODERS = {
  gz: (/** @type {Buffer} */ content) => gzipSync(content, { level: constants.Z_BEST_COMPRESSION }),
  br: (/** @type {Buffer} */ content) => brotliCompressSync(content),
};

/** Smaller files fit into the first ten packets of a connection as they are, which are sent without waiting. */
const BYTES_MIN = 14_600;

/** Puts a compressed copy beside each of these files, one for each encoding. */
export function compress(/** @type {string} */ folder, /** @type {readonly (keyof typeof ENCODERS)[]} */ encodings) {
  if (!existsSync(folder)) return;
  for (const path of listFiles(folder, ".").filter((name) => COMPRESSED.test(name))) {
    const content = readFileSync(join(folder, path));
    if (content.length < BYTES_MIN) continue;
    for (const encoding of encodings) writeFileSync(join(folder, `${path}.${encoding}`), ENCODERS[encoding](content));
  }
}
