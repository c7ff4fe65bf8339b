// Is the port free, and can the providers be reached? Connections only: no provider is asked anything.

import { connect as connectPlain, createServer, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Check } from "../config/doctor.ts";
import type { Settings } from "../config/settings.ts";
import type { Provider } from "../core/model.ts";
import { reasonOf } from "./usage.ts";

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

/** With TLS where the address has it, so that a certificate nobody trusts is found here and not by the first request. */
export async function providerCheck({ id, baseUrl }: Provider, patienceMs: number = PATIENCE_MS): Promise<Check> {
  const { protocol, hostname, port, host } = new URL(baseUrl);
  const isTls = protocol === "https:";
  const name = hostname.replace(/^\[|\]$/g, "");
  const target = { host: name, port: Number(port) || (isTls ? 443 : 80) };
  try {
    if (isTls)
      await connected(connectTls({ ...target, servername: isIP(name) ? "" : name }), "secureConnect", patienceMs);
    else await connected(connectPlain(target), "connect", patienceMs);
    return { state: "ok", what: `${id}: ${host} can be reached`, fix: null };
  } catch (error) {
    const what = `${id}: ${host} cannot be reached: ${reasonOf(error)}`;
    return { state: "fail", what, fix: "Check the network, the firewall and the provider's baseUrl" };
  }
}

function connected(socket: Socket, event: "connect" | "secureConnect", patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${patienceMs} ms`)), patienceMs);
    socket.once("error", reject);
    socket.once(event, () => {
      resolve();
      socket.destroy();
    });
    socket.once("close", () => clearTimeout(timer));
  });
}
