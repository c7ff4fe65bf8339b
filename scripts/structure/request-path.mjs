// @ts-check
// npm run structure:request: which files and functions one chat request runs, counted by V8 against the built gateway with
// the sandbox provider. Everything until its record is written counts; starting up and timers do not.

import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { ROOT } from "../setup/files.mjs";
import { ensureBuild, runScript } from "../setup.mjs";

const RECORD_WRITTEN_MS = 3_000;
const KINDS = {
  chat: { path: "/v1/chat/completions", body: { messages: [{ role: "user", content: "Hello there" }] } },
  "chat, streamed": {
    path: "/v1/chat/completions",
    body: { messages: [{ role: "user", content: "Hello there" }], stream: true },
  },
  messages: { path: "/v1/messages", body: { max_tokens: 50, messages: [{ role: "user", content: "Hello there" }] } },
};

await runScript(async () => {
  await ensureBuild();
  const dist = (/** @type {string} */ path) => import(pathToFileURL(join(ROOT, "dist", path)).href);
  const { load } = await dist("config/load.js");
  const { start } = await dist("app/app.js");
  const folder = mkdtempSync(join(tmpdir(), "switchyard-path-"));
  const loaded = load({ flags: { port: "0", data: folder }, env: {}, cwd: folder });
  const { SILENT_LOG } = await dist("telemetry/log.js");
  const app = await start(loaded.settings, SILENT_LOG);
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  const idle = new Set((await functionsRun(session, async () => {})).map(({ id }) => id));
  for (const [name, { path, body }] of Object.entries(KINDS)) {
    await ask(app, path, body);
    await wait(RECORD_WRITTEN_MS);
    const ran = await functionsRun(session, () => ask(app, path, body));
    print(
      name,
      ran.filter(({ id }) => !idle.has(id)),
    );
  }
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(/** @type {any} */ app, /** @type {string} */ path, /** @type {object} */ body) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${app.firstKey}` };
  const init = { method: "POST", headers, body: JSON.stringify({ model: "auto", ...body }) };
  const answer = await fetch(`${app.url}${path}`, init);
  if (!answer.ok) throw new Error(await answer.text());
  await answer.text();
}

/** Every function of ours that ran during the work and until its record was written. */
async function functionsRun(/** @type {Session} */ session, /** @type {() => Promise<void>} */ work) {
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await work();
  await wait(RECORD_WRITTEN_MS);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  return result.flatMap(({ url, functions }) => {
    const at = url.includes("/node_modules/") ? -1 : url.indexOf("/dist/");
    const ran = at < 0 ? [] : functions.filter(({ functionName, ranges }) => functionName !== "" && ranges[0]?.count);
    const path = url.slice(at + "/dist/".length).replace(/\.js$/, ".ts");
    return ran.map(({ functionName, ranges }) => ({ path, id: `${path} ${functionName} ${ranges[0]?.startOffset}` }));
  });
}

function print(/** @type {string} */ name, /** @type {{ path: string, id: string }[]} */ functions) {
  const files = new Set(functions.map(({ path }) => path));
  console.log(`${name}: ${files.size} files, ${functions.length} functions`);
  if (process.argv.includes("--list")) for (const path of files) console.log(`  ${path}`);
}
