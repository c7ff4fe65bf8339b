// The gateway's API for `switchyard apply`, by the admin token. What is refused is an error with the gateway's own words.

import type { JsonMap } from "../../core/overlay.ts";
import { reasonOf } from "../command/usage.ts";
import * as TEXT from "./text.ts";

export interface Remote {
  call(method: string, path: string, body?: JsonMap): Promise<JsonMap>;
  /** All pages of a list. */
  list(path: string): Promise<readonly JsonMap[]>;
}

const ANSWER_MS_MAX = 30_000;
const PAGE = 500;

export function remoteGateway(url: string, token: string): Remote {
  const call = async (method: string, path: string, body?: JsonMap): Promise<JsonMap> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    }).catch((error: unknown) => {
      throw new Error(TEXT.unreachable(url, reasonOf(error)));
    });
    const text = await response.text();
    if (response.ok) return text === "" ? {} : (JSON.parse(text) as JsonMap);
    throw new Error(TEXT.refused(`${method} ${path}`, response.status, messageIn(text)));
  };
  return {
    call,
    async list(path) {
      const all: JsonMap[] = [];
      let after = "";
      for (;;) {
        const separator = path.includes("?") ? "&" : "?";
        const page = await call("GET", `${path}${separator}limit=${PAGE}${after}`);
        all.push(...(page.data as readonly JsonMap[]));
        if (typeof page.next !== "string") return all;
        after = `&after=${encodeURIComponent(page.next)}`;
      }
    },
  };
}

function messageIn(text: string): string {
  try {
    return String((JSON.parse(text) as { readonly error: { readonly message: string } }).error.message);
  } catch {
    return text.slice(0, 200);
  }
}
