// Is the port free, or is it ours already?

import { createServer, isIP } from "node:net";
import type { Check } from "../../config/doctor.ts";
import type { Settings } from "../../config/settings.ts";
import { reasonOf } from "../command/usage.ts";

const PATIENCE_MS = 3_000;

export async function portCheck({ host, port }: Pick<Settings["server"], "host" | "port">): Promise<Check> {
  if (port === 0) return { state: "ok", what: "Port: any free one", fix: null };
  const error = await tryListening(host, port);
  if (error === null) return { state: "ok", what: `Port ${port} on ${host} is free`, fix: null };
  if (error.code !== "EADDRINUSE") {
    const what = `Port ${port} on ${host} cannot be opened: ${reasonOf(error)}`;
    return { state: "fail", what, fix: "Set HOST to an address of this machine and PORT to one above 1023" };
  }
  if (await isSwitchyard(host, port)) {
    return { state: "ok", what: `Port ${port}: a switchyard is running there`, fix: null };
  }
  const what = `Port ${port} on ${host} is taken by another program`;
  return { state: "fail", what, fix: "Stop that program, or set PORT to another" };
}

function tryListening(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** Its health answer alone could be anyone's; the shape of our request ids is not. */
async function isSwitchyard(host: string, port: number): Promise<boolean> {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const address = `http://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}/healthz`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: "manual" });
    const body = (await response.json()) as { status?: unknown };
    return body.status === "ok" && /^req_[0-9a-f]+$/.test(response.headers.get("x-request-id") ?? "");
  } catch {
    return false;
  }
}
