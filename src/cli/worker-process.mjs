// The program of a worker process, started by its primary process from the build.

import { existsSync } from "node:fs";

const bundled = new URL("../program/cli/serve-worker.js", import.meta.url);
// The benchmarks compile the sources without bundling them.
const program = existsSync(bundled) ? bundled : new URL("./serve-worker.js", import.meta.url);
const { serveWorker } = await import(program.href);
await serveWorker(process.argv.slice(2));
