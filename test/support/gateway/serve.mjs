// @ts-check
// The built program in a process of its own. Called with `spare` it loads everything and then waits for a line on standard
// input, so that a test can have a successor ready before it kills the one that serves. TEST_BUILD names another build.

import { pathToFileURL } from "node:url";

const folder =
  process.env.TEST_BUILD === undefined
    ? new URL("../../../dist/program/", import.meta.url)
    : pathToFileURL(`${process.env.TEST_BUILD}/`);
const built = (/** @type {string} */ path) => new URL(path, folder).href;

const { main } = await import(built("main.js"));
if (process.argv[2] === "spare") {
  await import(built("cli/serve.js"));
  await new Promise((resolve) => process.stdin.once("data", resolve));
  // An open standard input would keep a process alive that has been told to stop.
  process.stdin.destroy();
}
await main(["serve"]);
