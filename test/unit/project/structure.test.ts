// npm run structure: it finds what breaks a limit, in a small program made for it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { brokenLimits, measure } from "../../../scripts/structure/measure.mjs";

const folder = mkdtempSync(join(tmpdir(), "switchyard-structure-"));
const LONG = `export function long() {\n${"  void 0;\n".repeat(60)}}\n`;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a program without a fault has no broken limit", () => {
  write("good/a.ts", '// Says what it is for.\n\nimport { b } from "./b.ts";\n\nexport const a = b;\n');
  write("good/b.ts", "// Says it too.\n\n/** Why. */\nexport const b = 1;\n");
  const measured = measure(folder, ["good"]);
  expect(measured).toMatchObject({ files: 2, floors: 2, arrows: 1, cycles: [] });
  expect(brokenLimits(measured)).toEqual([]);
});

test("every broken limit is named", () => {
  write("bad/silent.ts", "void 0;\n".repeat(300));
  write("bad/long.ts", `// A long function.\n\n${LONG}`);
  write("bad/one.ts", '// One half.\n\nimport type { Two } from "./two.ts";\n\nexport type One = Two;\n');
  write("bad/two.ts", '// The other half.\n\nimport type { One } from "./one.ts";\n\nexport type Two = One;\n');
  for (let file = 0; file < 21; file++) {
    const types = Array.from({ length: 6 }, (_, name) => `type Same${name} = ${name};\n`).join("");
    write(`bad/crowd/${file}.ts`, `// One of many.\n\n${types}export const value = ${file};\n`);
  }
  const broken = brokenLimits(measure(folder, ["bad"])).join("\n");
  expect(broken).toContain("bad/crowd has 21 files");
  expect(broken).toContain("bad/long.ts:3 is 62 lines long");
  expect(broken).toContain("6 type names are declared twice: Same0");
  expect(broken).toContain("% of the lines are comments");
  expect(broken).toContain("bad/silent.ts does not open with a comment");
  expect(broken).toContain("bad/one.ts is part of an import cycle");
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
