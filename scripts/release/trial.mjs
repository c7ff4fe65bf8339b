// @ts-check
// Installs what a release made into an empty folder, starts it and asks it one question.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../setup/run.mjs";

/** @typedef {{ state: "made" | "skipped" | "failed", words: string }} Outcome */

const OFFLINE = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|network/;

/** @returns {Promise<Outcome>} */
export async function tryPackage(/** @type {string} */ folder) {
  const tarball = readdirSync(folder).find((name) => /^switchyard-gateway-.*\.tgz$/.test(name));
  if (tarball === undefined) throw new Error("there is no tarball to install");
  const user = mkdtempSync(join(tmpdir(), "switchyard-release-"));
  try {
    mkdirSync(join(user, "data"));
    writeFileSync(join(user, "package.json"), "{}");
    const install = [
      "install",
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      join(folder, tarball),
    ];
    const { code, output } = await run("npm", install, { cwd: user, env: plainEnv() });
    if (code !== 0 && OFFLINE.test(output))
      return { state: "skipped", words: "neither a registry nor npm's cache has its dependencies" };
    if (code !== 0) throw new Error(output.trim());
    const took = await ask(join(user, "node_modules/.bin/switchyard"), user);
    return { state: "made", words: `${tarball} installed in an empty folder answers ${took} ms after its start` };
  } finally {
    rmSync(user, { recursive: true, force: true });
  }
}

/** Without what npm tells its children about this checkout. */
function plainEnv() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|NODE_ENV)/.test(name)));
}

async function ask(/** @type {string} */ program, /** @type {string} */ cwd) {
  const env = { ...plainEnv(), PORT: "0", LOG_LEVEL: "error", SWITCHYARD_PRICES_CHECK: "off", SWITCHYARD_WORKERS: "1" };
  const beganAt = performance.now();
  const server = spawn(program, [], { cwd, env });
  try {
    const said = await untilSaid(server, /Base URL[\s\S]*API key +\S+/);
    const [, url, key] = /Base URL +(\S+)\/v1[\s\S]*API key +(sk-service-\S+)/.exec(said) ?? [];
    const page = await (await fetch(`${url}/`)).text();
    if (!page.includes("<html")) throw new Error("the dashboard is missing");
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "auto", messages: [{ role: "user", content: "Hello" }] }),
    });
    if (answer.status !== 200) throw new Error(`the first answer is ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
    return Math.round(performance.now() - beganAt);
  } finally {
    if (server.exitCode === null && server.kill("SIGTERM")) await once(server, "exit");
  }
}

/** @returns {Promise<string>} */
function untilSaid(/** @type {import("node:child_process").ChildProcess} */ child, /** @type {RegExp} */ wanted) {
  let said = "";
  return new Promise((resolve, reject) => {
    const read = (/** @type {Buffer} */ text) => {
      said += text.toString("utf8");
      if (wanted.test(said)) resolve(said);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the program ended with ${code}: ${said}`)));
  });
}

/**
 * Builds the image and asks it for its version, where an engine answers.
 * @returns {Promise<Outcome>}
 */
export async function tryImage(/** @type {string} */ root, /** @type {string} */ version) {
  const base = /^ARG NODE=(\S+)$/m.exec(readFileSync(join(root, "Dockerfile"), "utf8"))?.[1] ?? "";
  if (!/@sha256:[0-9a-f]{64}$/.test(base)) throw new Error(`the base image ${base} is not pinned by its digest`);
  if ((await run("docker", ["info"], { cwd: root })).code !== 0)
    return {
      state: "skipped",
      words: `no engine answers; test/e2e/image.test.ts runs what the image holds. Base: ${base}`,
    };
  const tag = `switchyard:${version}`;
  for (const args of [
    ["build", "--tag", tag, "."],
    ["run", "--rm", tag, "version"],
  ]) {
    const { code, output } = await run("docker", args, { cwd: root });
    if (code !== 0) throw new Error(output.trim().split("\n").slice(-5).join("\n"));
  }
  return { state: "made", words: tag };
}
