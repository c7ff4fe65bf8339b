// A provider that speaks the invented format, and the words a test compares with.

import { type Behaviour, sends } from "../../providers/fake-provider.ts";
import type { Order } from "./requests.ts";
import { writeEvent } from "./streams.ts";

const BILL = { sent: 12, kept: 4, received: 5 };

export interface Reply {
  readonly words?: string;
  readonly orders?: readonly Order[];
  readonly bill?: object;
}

/** A telegram, whole or live, as the request asks. */
export function taps(reply: Reply): Behaviour {
  return (exchange) => {
    const { station, live } = exchange.request.body;
    if (live !== true) return sends(200, wholeTelegram(String(station), reply))(exchange);
    exchange.response.writeHead(200, { "content-type": "text/event-stream" });
    exchange.response.end(liveTelegram(String(station), reply));
    return undefined;
  };
}

export function wholeTelegram(station: string, reply: Reply): string {
  const { words = null, orders = [], bill = BILL } = reply;
  const stop = orders.length > 0 ? "orders" : "full";
  return JSON.stringify({ telegram: "t-1", station, words, orders, stop, bill, novelty: { of: "ours" } });
}

export function liveTelegram(station: string, { words = "", orders = [], bill = BILL }: Reply): string {
  const pieces = words.match(/\s*\S+/g) ?? [];
  return [
    writeEvent("tap", { telegram: "t-1", station, novelty: 1 }),
    ...pieces.map((w) => writeEvent("words", { w })),
    ...orders.flatMap(({ number, machine, notes }) => [
      writeEvent("order", { number, machine }),
      writeEvent("notes", { number, piece: JSON.stringify(notes).slice(0, 5) }),
      writeEvent("notes", { number, piece: JSON.stringify(notes).slice(5) }),
    ]),
    writeEvent("stop", { stop: orders.length > 0 ? "orders" : "full", bill }),
  ].join("");
}

export function troubles(status: number, trouble: object, headers: Record<string, string> = {}): Behaviour {
  return sends(status, { trouble }, headers);
}
