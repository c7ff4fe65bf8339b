// @ts-check
// src/formats/scan/scanner-code.ts: the scanner of JSON, compiled from scanner.wat. It is in the repository so that the
// gateway is built without this compiler.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import compiler from "wabt";

const FOLDER = "src/formats/scan";

export async function render(/** @type {string} */ root) {
  const { parseWat } = await compiler();
  const module = parseWat("scanner.wat", readFileSync(join(root, FOLDER, "scanner.wat"), "utf8"), { simd: true });
  const code = Buffer.from(module.toBinary({}).buffer).toString("base64");
  const text = `// Written by \`npm run docs\` from scanner.wat.\n\nexport const SCANNER_CODE =\n  "${code}";\n`;
  return [{ path: `${FOLDER}/scanner-code.ts`, text }];
}
