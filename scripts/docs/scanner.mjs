// @ts-check
// src/formats/scan/scanner-code.ts: the scanner of JSON, compiled from scanner.wat. It is in the repository so that the
// gateway is built without this compiler.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const FOLDER = "src/formats/scan";
const SIMD_LINE = / *;; simd\n[\s\S]*?;; end\n|.*;; simd\n/g;

export async function render(/** @type {string} */ root) {
  const compiler = createRequire(join(root, "test/package.json"))("wabt");
  const { parseWat } = await compiler();
  const source = readFileSync(join(root, FOLDER, "scanner.wat"), "utf8");
  const compiled = (/** @type {string} */ text) =>
    Buffer.from(parseWat("scanner.wat", text, { simd: true }).toBinary({}).buffer).toString("base64");
  const codes = { SCANNER_CODE: compiled(source), CODE_WITHOUT_SIMD: compiled(source.replace(SIMD_LINE, "")) };
  const lines = Object.entries(codes).map(([name, code]) => `export const ${name} =\n  "${code}";\n`);
  const text = ["// Written by `npm run docs` from scanner.wat.\n", ...lines].join("\n");
  return [{ path: `${FOLDER}/scanner-code.ts`, text }];
}
