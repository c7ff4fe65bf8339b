// Looks for model servers on this machine, or at an address that somebody has given. All are asked at once, and none is
// waited for longer than the time given.

import { Agent, request } from "undici";
import { hostKind } from "../../config/network.ts";
import { guardedLookup } from "../lookup.ts";
import { type AskServer, LOCAL_SERVERS, type LocalServer, type ServerReport } from "./servers.ts";

/** A server that answered. */
export interface FoundServer extends ServerReport, Pick<LocalServer, "id" | "name" | "kind"> {
  /** Scheme, host and port. */
  readonly address: string;
}

export interface LocalSearch {
  /** A host, with or without a port, or an http address; null looks on this machine, at the usual ports. */
  readonly address: string | null;
  readonly withinMs: number;
  /** True if each model is asked about. */
  readonly hasDetails: boolean;
  /** The port of this gateway, which is no model server. */
  readonly ownPort?: number | undefined;
  /** The usual ones where left out. */
  readonly servers?: readonly LocalServer[] | undefined;
}

/** An address that is not one, or that is never called. */
export class WrongAddress extends Error {}

/** In the order of the table. Throws WrongAddress. */
export async function discover(search: LocalSearch): Promise<readonly FoundServer[]> {
  const { address, withinMs, hasDetails, servers = LOCAL_SERVERS } = search;
  const places = address === null ? usualPlaces(servers, search.ownPort) : givenPlaces(address, servers);
  const agent = new Agent({
    connect: { timeout: withinMs, lookup: guardedLookup(true) },
    headersTimeout: withinMs,
    bodyTimeout: withinMs,
  });
  const signal = AbortSignal.timeout(withinMs);
  try {
    const found = await Promise.all(
      places.map(async ({ origin, candidates }): Promise<FoundServer | null> => {
        const ask = asking(origin, { agent, signal });
        const told = await Promise.all(candidates.map((server) => server.find(ask, hasDetails).catch(() => null)));
        const place = told.findIndex((each) => each !== null);
        const [server, said] = [candidates[place], told[place]];
        if (server === undefined || said === undefined || said === null) return null;
        const { id, name, kind } = server;
        return { id, name, kind, address: origin, ...said };
      }),
    );
    return found.filter((each) => each !== null);
  } finally {
    await agent.destroy();
  }
}

/** An origin, and what may be there. */
interface LocalPlace {
  readonly origin: string;
  readonly candidates: readonly LocalServer[];
}

function usualPlaces(servers: readonly LocalServer[], ownPort: number | undefined): readonly LocalPlace[] {
  return servers
    .filter(({ port }) => port !== ownPort)
    .map((server) => ({ origin: `http://127.0.0.1:${server.port}`, candidates: [server] }));
}

/** Limit for a part of a host name. */
const LABEL_LENGTH_MAX = 63;

/** With a port it may be any of them; without one each is looked for at its own. */
function givenPlaces(address: string, servers: readonly LocalServer[]): readonly LocalPlace[] {
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`;
  if (!URL.canParse(written)) throw new WrongAddress(`'${address}' is not an address.`);
  const { protocol, hostname, host, port, origin, username, password } = new URL(written);
  const isTooLong = hostname.split(".").some((label) => label.length > LABEL_LENGTH_MAX);
  if ((protocol !== "http:" && protocol !== "https:") || hostname === "" || isTooLong) {
    throw new WrongAddress(`'${address}' is not an http or https address.`);
  }
  if (username !== "" || password !== "") throw new WrongAddress("The address must not hold a user name or password.");
  if (hostKind(hostname) === "forbidden") throw new WrongAddress(`${hostname} is an address that is never called.`);
  if (port !== "" || protocol === "https:") return [{ origin, candidates: servers }];
  return servers.map((server) => ({ origin: `http://${host}:${server.port}`, candidates: [server] }));
}

/** No server has so much to say of its models. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** Asks one server. An answer that is late, too long or no JSON counts as none. Redirects are not followed. */
function asking(origin: string, { agent, signal }: { readonly agent: Agent; readonly signal: AbortSignal }): AskServer {
  return async (path, body) => {
    try {
      const { statusCode: status, body: stream } = await request(`${origin}${path}`, {
        dispatcher: agent,
        signal,
        headers: { accept: "application/json", "content-type": "application/json", "user-agent": "switchyard" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      });
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length > ANSWER_BYTES_MAX) return null;
        chunks.push(chunk);
      }
      const text = Buffer.concat(chunks).toString("utf8");
      return { status, json: parsed(text) };
    } catch {
      return null;
    }
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
