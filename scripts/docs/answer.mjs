// @ts-check
// Renders the answer that README.md shows. A gateway without providers really gives it to the README's first request.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A fresh gateway of its own: nothing is read from this machine, and nothing is asked of the network. */
const ENV = {
  PORT: "0",
  HOST: "127.0.0.1",
  DATABASE_URL: "sqlite::memory:",
  SWITCHYARD_PRICES_CHECK: "off",
  SWITCHYARD_DRAIN_SECONDS: "1",
};
const LINE_CHARS = 100;

/** @param {string} root @param {import("../docs.mjs").Load} load */
export async function render(root, load) {
  const [, body = ""] = /\/v1\/chat\/completions [^']*-d '(\{[^']*\})'/s.exec(readmeOf(root)) ?? [];
  const { model, choices, usage, service } = await answerTo(body, load);
  const shown = choices.map((/** @type {{ message: object }} */ choice) => ({
    ...choice,
    message: { ...choice.message, content: "…" },
  }));
  return [{ path: "README.md", block: "answer", text: fenced({ model, choices: shown, usage, service }) }];
}

function readmeOf(/** @type {string} */ root) {
  return readFileSync(join(root, "README.md"), "utf8");
}

/** @param {string} body @param {import("../docs.mjs").Load} load */
async function answerTo(body, load) {
  const settingsOf = await load("config/load.ts");
  const { start } = await load("app/app.ts");
  const { SILENT_LOG } = await load("telemetry/log.ts");
  const cwd = mkdtempSync(join(tmpdir(), "switchyard-docs-"));
  try {
    const loaded = settingsOf.load({ flags: {}, env: ENV, cwd });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const app = await start(loaded.settings, SILENT_LOG);
    try {
      const headers = { authorization: `Bearer ${app.firstKey}`, "content-type": "application/json" };
      const response = await fetch(`${app.url}/v1/chat/completions`, { method: "POST", headers, body });
      if (!response.ok) throw new Error(await response.text());
      return /** @type {any} */ (await response.json());
    } finally {
      await app.stop();
    }
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** One line for each field, and as many as it takes for the decision. */
function fenced(/** @type {Readonly<Record<string, unknown>>} */ answer) {
  const fields = Object.entries(answer).map(([name, value]) => `  "${name}": ${written(value)}`);
  return `\`\`\`json\n{\n${fields.join(",\n")}\n}\n\`\`\``;
}

function written(/** @type {unknown} */ value) {
  const line = spaced(value);
  if (line.length <= LINE_CHARS || typeof value !== "object" || value === null || Array.isArray(value)) return line;
  /** @type {string[]} */
  const lines = [];
  for (const [name, each] of Object.entries(value)) {
    const field = `"${name}": ${spaced(each)}`;
    const last = lines.at(-1);
    if (last !== undefined && last.length + field.length < LINE_CHARS - 10)
      lines[lines.length - 1] = `${last}, ${field}`;
    else lines.push(field);
  }
  return `{\n${lines.map((each) => `    ${each}`).join(",\n")}\n  }`;
}

/** JSON on one line, as people write it. */
function spaced(/** @type {unknown} */ value) {
  return JSON.stringify(value, null, 1).replace(/\n\s*/g, " ").replace(/\[ /g, "[").replace(/ \]/g, "]");
}
