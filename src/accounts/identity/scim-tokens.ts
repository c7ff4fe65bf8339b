// Tokens with which the identity provider of an organisation manages its people and groups.

import { randomBytes } from "node:crypto";
import type { Page } from "../../core/accounts.ts";
import { checkedName } from "../../core/names.ts";
import type { ScimToken, ScimTokenStore } from "../../core/people.ts";
import { DEFAULT_ACCOUNT } from "../accounts.ts";
import { hashToken, makeToken } from "../token.ts";

export interface ScimTokens {
  /** The text is returned here and stored nowhere. */
  create(wanted: NewScimToken): Promise<{ readonly token: ScimToken; readonly text: string }>;
  list(accountId: string, page: Page): Promise<readonly ScimToken[]>;
  /** False when the account has no such token. */
  revoke(accountId: string, id: string): Promise<boolean>;
  /** Asks the database each time, so a revoked token ends at once. Null for any other text. */
  verify(text: string): Promise<ScimToken | null>;
}

type NewScimToken = Pick<ScimToken, "accountId" | "name" | "reachesOperators">;

const PREFIX = "scim_";
/** Interval at which the last use is written. */
const TOUCH_MS = 10 * 60_000;

export function createScimTokens({
  store,
  now = Date.now,
}: {
  readonly store: ScimTokenStore;
  readonly now?: () => number;
}): ScimTokens {
  return {
    create: async (wanted) => {
      const random = makeToken();
      const token: ScimToken = {
        ...wanted,
        name: checkedName("A token", wanted.name),
        // A customer's groups must make no operators, also where an operator made the token for the customer.
        reachesOperators: wanted.reachesOperators && wanted.accountId === DEFAULT_ACCOUNT,
        id: `scim_token_${randomBytes(12).toString("hex")}`,
        hash: hashToken(random) as string,
        createdAtMs: now(),
        lastUsedAtMs: null,
      };
      await store.insert(token);
      return { token, text: `${PREFIX}${random}` };
    },
    list: (accountId, page) => store.list(accountId, page),
    revoke: (accountId, id) => store.delete(accountId, id),
    verify: async (text) => {
      const hash = text.startsWith(PREFIX) ? hashToken(text.slice(PREFIX.length)) : null;
      const token = hash === null ? null : await store.byHash(hash);
      if (token !== null && now() >= (token.lastUsedAtMs ?? 0) + TOUCH_MS) await store.touch(token.id, now());
      return token;
    },
  };
}
