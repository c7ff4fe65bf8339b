// @ts-check
// Compresses the files of a built site once, as small as it gets, instead of on every response.

import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
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

/** Puts a compressed copy in the place of each of these files, which the server unpacks for a client that needs it. */
export function compressInPlace(/** @type {string} */ folder) {
  for (const path of compress(folder, ["gz"])) rmSync(join(folder, path));
}

/** Puts a compressed copy beside each of these files, one for each encoding, and returns their names. */
export function compress(/** @type {string} */ folder, /** @type {readonly (keyof typeof ENCODERS)[]} */ encodings) {
  if (!existsSync(folder)) return [];
  const isLarge = (/** @type {string} */ path) => statSync(join(folder, path)).size >= BYTES_MIN;
  const paths = listFiles(folder, ".").filter((path) => COMPRESSED.test(path) && isLarge(path));
  for (const path of paths) {
    const content = readFileSync(join(folder, path));
    for (const encoding of encodings) writeFileSync(join(folder, `${path}.${encoding}`), ENCODERS[encoding](content));
  }
  return paths;
}
