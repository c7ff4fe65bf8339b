// The last price check: what feeds and providers said, kept until the next one. It is compared with the catalogue when
// somebody looks, so that what was adopted since is gone.

import type { RateCard } from "../../core/price.ts";
import type { OfferedModel } from "./diff.ts";
import type { FeedId } from "./feeds.ts";
import type { ListedRow, RefusedRow } from "./listed.ts";

/** The last words of one feed. */
export interface FeedState {
  readonly feed: FeedId;
  /** Address, or name of the file. */
  readonly source: string;
  /** Time of the last good reading; 0 before the first one. */
  readonly readAtMs: number;
  /** Time at which the list changed last; 0 where that is not known. */
  readonly changedAtMs: number;
  /** Changes with the text of the list. Empty before the first reading. */
  readonly digest: string;
  /** Explains why the last reading failed; null when it did not. */
  readonly problem: string | null;
  /** Marks of the version that was read, for asking only for a newer one. */
  readonly etag: string | null;
  readonly modified: string | null;
  /** The vendors whose rows were kept. */
  readonly vendors: readonly string[];
  readonly rows: readonly ListedRow[];
  readonly refused: readonly RefusedRow[];
  /** Vendors, and models of the catalogue as `vendor/name`, that were listed before and are not any more. */
  readonly lost: readonly string[];
}

/** Public lists change every few days. One that does not has been left by those who kept it. */
export const STALE_DAYS = 14;

/** Tells whether a list has been the same for so long that its prices say nothing about today's. */
export function isStale({ changedAtMs }: FeedState, atMs: number): boolean {
  return changedAtMs > 0 && atMs - changedAtMs > STALE_DAYS * 86_400_000;
}

/** A price that a person or the catalogue confirmed, and what feeds made of it since. */
export interface Anchor extends ConfirmedPrice {
  /** Prices that were taken over since, the newest last. Where another one is in use, a person chose it. */
  readonly taken: readonly RateCard[];
}

export interface ConfirmedPrice {
  readonly price: RateCard;
  readonly asOf: string;
}

export interface PriceCheck {
  /** Time of the last check, whatever its results; 0 before the first one. */
  readonly atMs: number;
  readonly feeds: readonly FeedState[];
  /** Models that each provider offers, for the providers that list them. */
  readonly offered: Readonly<Record<string, readonly OfferedModel[]>>;
  /** Prices that were taken over, by host. One that somebody undid is not taken over again. */
  readonly adopted: Readonly<Record<string, string>>;
  /** Confirmed prices of hosts whose price was taken over since, by host. Left out by checks before there were any. */
  readonly anchors?: Readonly<Record<string, Anchor>>;
}

export const NO_CHECK: PriceCheck = { atMs: 0, feeds: [], offered: {}, adopted: {} };

export interface PriceCheckStore {
  /** The last check; an empty one before the first. */
  read(): Promise<PriceCheck>;
  write(check: PriceCheck): Promise<void>;
  /** Takes the turn to check until a moment. False while a turn of another process lasts. */
  claim(nowMs: number, untilMs: number): Promise<boolean>;
}
