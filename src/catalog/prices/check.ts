// The last comparison of prices: what the list and the providers said, kept until the next one. It is compared with the
// catalogue when somebody looks, so that what was adopted since is gone.

import type { OfferedModel } from "./diff.ts";
import type { ListedRow, RefusedRow } from "./listed.ts";

export interface PriceCheck {
  /** The address of the list. */
  readonly source: string;
  /** Time at which the list was read. */
  readonly atMs: number;
  /** Explains why a later reading failed; null when none did. */
  readonly problem: string | null;
  /** Prices of providers that are known or configured. */
  readonly rows: readonly ListedRow[];
  readonly refused: readonly RefusedRow[];
  /** Models that each provider offers, for the providers that list them. */
  readonly offered: Readonly<Record<string, readonly OfferedModel[]>>;
}

export interface PriceCheckStore {
  /** The last check; null before the first one. */
  read(): Promise<PriceCheck | null>;
  write(check: PriceCheck): Promise<void>;
}
