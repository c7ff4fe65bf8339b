// A server of the benchmarks as several processes on one port, as a gateway with workers is.

import cluster from "node:cluster";

/** Told where it serves, once every process listens. Each process runs the same program, which listens in its turn. */
export async function serveFrom(
  processes: number,
  listen: () => Promise<number>,
  ready: (port: number) => void,
): Promise<void> {
  if (processes > 1 && cluster.isPrimary) {
    startAll(processes, ready);
    return;
  }
  const port = await listen();
  if (cluster.isPrimary) ready(port);
}

function startAll(processes: number, ready: (port: number) => void): void {
  let listening = 0;
  cluster.on("listening", (_worker, { port }) => {
    listening += 1;
    if (listening === processes) ready(port);
  });
  for (let index = 0; index < processes; index += 1) cluster.fork();
}
