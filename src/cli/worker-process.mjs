// The program of a worker process, started by its primary process from the build.

const { serveWorker } = await import(new URL("../program/cli/serve-worker.js", import.meta.url).href);
await serveWorker(process.argv.slice(2));
