// Keeps a process from calling anybody: the demo of the public has operators who are strangers. They can name servers,
// webhooks and mail servers, and nothing may go there. Every connection of Node passes through one function.

import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { isIP, Socket } from "node:net";

const SEALED = "EACCES";

/** For the whole life of the process. Connections that others open to it are not touched. */
export function sealNetwork(): void {
  Socket.prototype.connect = function refuse(this: Socket): Socket {
    process.nextTick(() => this.destroy(refusal()));
    return this;
  } as Socket["connect"];
  // Looking a name up asks a server, too.
  const asked = dns as unknown as Functions;
  const promised = dns.promises as unknown as Functions;
  for (const name of Object.keys(asked).filter((each) => /^(?:lookup|resolve|reverse)/.test(each))) {
    const [original, originalPromise] = [asked[name], promised[name]];
    asked[name] = (...given) => {
      if (isOwn(given[0])) return original?.(...given);
      const done = given.at(-1);
      return typeof done === "function" ? process.nextTick(done as (error: Error) => void, refusal()) : undefined;
    };
    if (originalPromise === undefined) continue;
    promised[name] = (...given) => (isOwn(given[0]) ? originalPromise(...given) : Promise.reject(refusal()));
  }
  syncBuiltinESMExports();
}

type Functions = Record<string, (...given: readonly unknown[]) => unknown>;

/** Servers look their own address up before they listen. An address needs no server to be found. */
function isOwn(name: unknown): boolean {
  return typeof name === "string" && (isIP(name) !== 0 || name === "localhost");
}

function refusal(): NodeJS.ErrnoException {
  return Object.assign(new Error("the public demo calls nobody"), { code: SEALED, syscall: "connect" });
}
