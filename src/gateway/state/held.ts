// Responses that connections hold for their next turn, without storing them. Each connection holds its last one, an account
// a limited amount, and all of them together as well: the oldest are dropped first, and their clients send the conversation
// again.

import type { JsonItem, OwnedId, ResponseStore } from "../../core/responses/stored.ts";

/** All that a request reads of stored responses. */
export type ReadableResponses = Pick<ResponseStore, "chain" | "items">;

interface HeldResponse extends OwnedId {
  /** The whole conversation, with the items of the response at its end. */
  readonly items: readonly JsonItem[];
}

/** Holds the last response of one connection. */
export interface Holder {
  find(name: OwnedId): readonly JsonItem[] | null;
  hold(response: HeldResponse): void;
  /** Drops a response whose continuation failed, as the format has it. */
  drop(id: string): void;
  /** Reads the held response where it is asked for, and the store for every other one. */
  over(store: ReadableResponses): ReadableResponses;
}

/** An account may have this part of what all may have together. */
const ACCOUNT_RATIO = 1 / 8;

interface HeldLimits {
  readonly bytes: number;
  /** Counted for each value in addition to its text: an empty object takes up much more than two bytes. */
  readonly valueBytes: number;
}

export class HeldResponses {
  readonly #limits: HeldLimits;
  /** By holder, the oldest first. */
  readonly #held = new Map<Holder, HeldResponse & { readonly bytes: number }>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(limits: HeldLimits) {
    this.#limits = limits;
  }

  open(): Holder {
    const find: Holder["find"] = ({ accountId, id }) => {
      const held = this.#held.get(holder);
      return held !== undefined && held.id === id && held.accountId === accountId ? held.items : null;
    };
    const holder: Holder = {
      find,
      hold: (response) => this.#hold(holder, response),
      drop: (id) => {
        if (this.#held.get(holder)?.id === id) this.close(holder);
      },
      over: (store) => ({
        chain: (name, terms) => {
          const items = find(name);
          return items === null ? store.chain(name, terms) : only(items);
        },
        items: async (accountId, ids, maxBytes) => {
          const held = this.#held.get(holder);
          const own = new Map<string, JsonItem>();
          if (held?.accountId === accountId)
            for (const item of held.items) if (typeof item.id === "string") own.set(item.id, item);
          const others = ids.filter((id) => !own.has(id));
          const stored =
            others.length === 0 ? new Map<string, JsonItem>() : await store.items(accountId, others, maxBytes);
          return stored === null ? null : new Map([...own, ...stored]);
        },
      }),
    };
    return holder;
  }

  close(holder: Holder): void {
    const held = this.#held.get(holder);
    if (held === undefined) return;
    this.#held.delete(holder);
    this.#count(held.accountId, -held.bytes);
  }

  #hold(holder: Holder, response: HeldResponse): void {
    this.close(holder);
    const { accountId, items } = response;
    const bytes = Buffer.byteLength(JSON.stringify(items)) + this.#limits.valueBytes * valuesIn(items);
    const share = ACCOUNT_RATIO * this.#limits.bytes;
    if (bytes > share) return;
    this.#held.set(holder, { ...response, bytes });
    this.#count(accountId, bytes);
    // The account makes room for itself: its own responses go before those of others.
    for (const [oldest, held] of this.#held) {
      if ((this.#bytesOf.get(accountId) ?? 0) <= share) break;
      if (held.accountId === accountId) this.close(oldest);
    }
    for (const oldest of this.#held.keys()) {
      if (this.#bytes <= this.#limits.bytes) break;
      this.close(oldest);
    }
  }

  #count(accountId: string, bytes: number): void {
    this.#bytes += bytes;
    const sum = (this.#bytesOf.get(accountId) ?? 0) + bytes;
    if (sum === 0) this.#bytesOf.delete(accountId);
    else this.#bytesOf.set(accountId, sum);
  }
}

function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + valuesIn(each), 1);
}

async function* only(items: readonly JsonItem[]): AsyncGenerator<readonly JsonItem[], void, void> {
  yield items;
}
