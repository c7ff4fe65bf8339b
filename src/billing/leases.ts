// Leases: credit that this process has set aside in the store and reserves from in memory, so that no request waits for a
// disk before its provider is called. Only a wallet with plenty is leased from, and what is not used soon goes back.

import type { HoldOp, LeaseOutcome, LedgerOp, LedgerOutcome, ReservedHold, SettleOutcome } from "../core/ledger.ts";
import type { NanoUsd } from "../core/money.ts";

export interface LeasesOptions {
  readonly owner: string;
  /** Rejects when the store is away; then `doubt` was called. */
  readonly submit: (op: LedgerOp) => Promise<LedgerOutcome>;
  /** Of every wallet that this process has a lease of. One read, so that leases that are not in use cost no commits. */
  readonly epochs: () => Promise<ReadonlyMap<string, number>>;
  /** Whether the store is known to take no writes. */
  readonly isStoreFailing: () => boolean;
  /** How long after its last sign of life this process still counts as alive for others. */
  readonly trustMs: number;
  readonly clock: () => number;
}

/** A lease that covers fewer requests is not worth asking for. */
const REQUESTS_MIN = 4n;
/** A lease that nothing was reserved from for so long goes back. An answer may take many seconds, and only then comes the next request. */
const IDLE_MS = 30_000;
/** Where nothing was heard of a lease for so long, the store is asked whether it is wanted back. */
const HEAR_MS = 500;
/** A wallet is not asked with every request: neither for more than its share, nor when it has too little. */
const FILLED_MS = 100;
const SCARCE_MS = 1_000;
/** After a lease was wanted back, none is asked for so long. */
const RECALLED_MS = 2_000;

const NO_EPOCHS: ReadonlyMap<string, number> = new Map();

/** What this process has of an account. */
interface LeasedAccount {
  readonly id: string;
  /** The lease as the store has it. */
  amount: NanoUsd;
  /** The part that open requests have reserved. */
  reserved: NanoUsd;
  /** The lease when it was last filled up. */
  filledTo: NanoUsd;
  /** Of the wallet: another one means that leases were wanted back. Null before the first lease. */
  epoch: number | null;
  usedAtMs: number;
  heardAtMs: number;
  /** Not before this time is more asked for. */
  askAfterMs: number;
  /** False when `amount` may be wrong. The lease is returned then, and nothing is reserved until that is done. */
  isSure: boolean;
  asking: Promise<void> | null;
  returning: Promise<void> | null;
}

type OwnHold = ReservedHold & { readonly id: string; readonly accountId: string };

export class Leases {
  readonly #options: LeasesOptions;
  readonly #accounts = new Map<string, LeasedAccount>();
  readonly #holds = new Map<string, OwnHold>();
  /** Metered accounts that the store has a wallet for: there the balance limits nothing. */
  readonly #metered = new Set<string>();
  /** When the last sign of life that was stored was sent. */
  #aliveAtMs: number | null = null;
  #isClosed = false;
  #isListening = false;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** The amount reserved; null where the store has to be asked. */
  take(op: Omit<HoldOp, "kind">): NanoUsd | null {
    const [amount = 0n] = op.amounts;
    if (op.spendLimit !== null || !this.#mayReserve()) return null;
    if (op.isMetered) return this.#metered.has(op.accountId) ? this.#reserve(op, amount) : null;
    const account = this.#account(op.accountId);
    const free = account.amount - account.reserved;
    if (free - amount <= account.filledTo / 2n) this.#ask(account, amount * REQUESTS_MIN);
    if (free <= 0n || free < amount || !account.isSure || account.returning !== null) return null;
    account.usedAtMs = this.#options.clock();
    account.reserved += amount;
    return this.#reserve(op, amount);
  }

  /** What a settlement has to say of a hold that was taken here; undefined for any other. */
  reserved(holdId: string): ReservedHold | undefined {
    return this.#holds.get(holdId);
  }

  /** Forgets a hold that was taken here. True when the store cannot know of it. */
  release(holdId: string): boolean {
    const hold = this.#holds.get(holdId);
    if (hold === undefined) return false;
    this.#holds.delete(holdId);
    if (!hold.isMetered) this.#account(hold.accountId).reserved -= hold.amount;
    return hold.isFresh;
  }

  /** On hold in memory alone. */
  heldFor(accountId: string): NanoUsd {
    return this.#accounts.get(accountId)?.reserved ?? 0n;
  }

  /** Leased, and not reserved by any request. */
  freeFor(accountId: string): NanoUsd {
    const account = this.#accounts.get(accountId);
    if (account === undefined || !account.isSure || account.returning !== null || !this.#mayReserve()) return 0n;
    return account.amount - account.reserved;
  }

  /** To be told of every operation that the store has committed, in that order. */
  committed(op: LedgerOp, outcome: LedgerOutcome): void {
    if (op.kind === "settle") this.#settled(op.holdId, outcome as SettleOutcome);
    if (op.kind === "hold" && op.isMetered && outcome.state === "held") this.#metered.add(op.accountId);
    if (op.kind === "lease") this.#heard(this.#account(op.accountId), outcome as LeaseOutcome);
    if (op.kind !== "return" || op.owner !== this.#options.owner) return;
    for (const { id } of op.holds) this.release(id);
    const account = this.#account(op.accountId);
    account.amount = 0n;
    account.filledTo = 0n;
    account.isSure = true;
  }

  /** A sign of life was stored. Where the one before it was too long ago, others may have ended the leases meanwhile. */
  alive(sentAtMs: number): void {
    if (this.#isSilentAt(sentAtMs)) this.doubt();
    this.#aliveAtMs = sentAtMs;
  }

  /** What the store has is uncertain. Nothing is reserved until that is settled. */
  doubt(): void {
    this.#metered.clear();
    for (const account of this.#accounts.values()) account.isSure = false;
  }

  /** Returns the lease of an account. What is reserved from it becomes holds of the store. Never rejects. */
  giveBack(accountId: string): Promise<void> {
    const account = this.#account(accountId);
    account.returning ??= this.#return(account).finally(() => {
      account.returning = null;
    });
    return account.returning;
  }

  /** As above, for somebody who lacks credit: it is not asked for again at once. */
  recall(accountId: string): Promise<void> {
    this.#account(accountId).askAfterMs = this.#options.clock() + RECALLED_MS;
    return this.giveBack(accountId);
  }

  /** Returns what was not reserved from for a while, and asks whether the rest is wanted back. */
  async tidy(): Promise<void> {
    if (this.#options.isStoreFailing()) return;
    const nowMs = this.#options.clock();
    const accounts = [...this.#accounts.values()];
    const unheard = accounts.filter(({ amount, heardAtMs }) => amount > 0n && nowMs - heardAtMs >= HEAR_MS);
    if (unheard.length > 0 && !this.#isListening) void this.#listen(unheard);
    await Promise.all(accounts.map((account) => this.#tidyOne(account, nowMs)));
  }

  /** Takes nothing any more, and returns everything. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#accounts.keys()].map((id) => this.giveBack(id)));
  }

  #mayReserve(): boolean {
    if (this.#isClosed || this.#aliveAtMs === null || this.#options.isStoreFailing()) return false;
    if (!this.#isSilentAt(this.#options.clock())) return true;
    this.doubt();
    return false;
  }

  #isSilentAt(timeMs: number): boolean {
    return this.#aliveAtMs !== null && timeMs - this.#aliveAtMs > this.#options.trustMs;
  }

  #account(id: string): LeasedAccount {
    const known = this.#accounts.get(id);
    if (known !== undefined) return known;
    const nowMs = this.#options.clock();
    const account: LeasedAccount = {
      ...{ id, amount: 0n, reserved: 0n, filledTo: 0n, epoch: null, isSure: true, asking: null, returning: null },
      ...{ usedAtMs: nowMs, heardAtMs: nowMs, askAfterMs: 0 },
    };
    this.#accounts.set(id, account);
    return account;
  }

  #reserve({ id, accountId, keyId, isMetered }: Omit<HoldOp, "kind">, amount: NanoUsd): NanoUsd {
    const { owner } = this.#options;
    this.#holds.set(id, { id, accountId, owner, keyId, amount, isMetered, isFresh: true });
    return amount;
  }

  /** In the background: requests that come meanwhile ask the store themselves. */
  #ask(account: LeasedAccount, atLeast: NanoUsd): void {
    const { submit, owner, clock } = this.#options;
    if (account.asking !== null || account.returning !== null || !account.isSure) return;
    if (clock() < account.askAfterMs) return;
    account.asking = submit({ kind: "lease", owner, accountId: account.id, atLeast, epoch: account.epoch })
      .then(
        () => undefined,
        () => {
          account.isSure = false;
        },
      )
      .finally(() => {
        account.asking = null;
      });
  }

  /** In the background: which of them others want back. Those that the store has no more are unsure. */
  async #listen(accounts: readonly LeasedAccount[]): Promise<void> {
    this.#isListening = true;
    const epochs = await this.#options.epochs().catch(() => NO_EPOCHS);
    this.#isListening = false;
    for (const account of accounts) {
      const epoch = epochs.get(account.id);
      // What was asked for meanwhile tells more.
      if (account.asking !== null || account.returning !== null || account.amount === 0n) continue;
      if (epoch === undefined) account.isSure = false;
      else if (account.epoch !== null && epoch <= account.epoch) account.heardAtMs = this.#options.clock();
      else {
        account.epoch = epoch;
        void this.recall(account.id);
      }
    }
  }

  async #return(account: LeasedAccount): Promise<void> {
    await account.asking;
    const { submit, owner } = this.#options;
    const holds = [...this.#holds.values()].filter((hold) => hold.accountId === account.id && !hold.isMetered);
    // From now on they may be in the store, also where its answer is lost.
    for (const hold of holds) this.#holds.set(hold.id, { ...hold, isFresh: false });
    await submit({ kind: "return", owner, accountId: account.id, holds, isExpiry: false }).catch(() => {
      account.isSure = false;
    });
  }

  #heard(account: LeasedAccount, outcome: LeaseOutcome): void {
    const nowMs = this.#options.clock();
    account.heardAtMs = nowMs;
    account.epoch = outcome.epoch;
    if (outcome.state === "leased") {
      account.amount = outcome.amount;
      account.filledTo = outcome.amount;
      account.askAfterMs = nowMs + FILLED_MS;
    } else if (outcome.reason === "scarce") account.askAfterMs = nowMs + SCARCE_MS;
    else void this.recall(account.id);
  }

  #settled(holdId: string, outcome: SettleOutcome): void {
    const hold = this.#holds.get(holdId);
    if (hold === undefined) return;
    this.release(holdId);
    if (hold.isMetered) return;
    const account = this.#account(hold.accountId);
    const lease = outcome.state === "settled" ? outcome.lease : undefined;
    // An earlier try was booked, and what it left was never told.
    if (lease === undefined) {
      account.isSure = false;
      return;
    }
    account.amount = lease.left;
    account.heardAtMs = this.#options.clock();
    const isWanted = account.epoch !== lease.epoch;
    account.epoch = lease.epoch;
    // With little left elsewhere, what is set aside would soon be missed.
    if (isWanted || lease.available < account.amount) void this.recall(account.id);
  }

  async #tidyOne(account: LeasedAccount, nowMs: number): Promise<void> {
    const { id, amount, reserved, usedAtMs } = account;
    const isIdle = nowMs - usedAtMs >= IDLE_MS;
    if (!account.isSure || (isIdle && amount > 0n)) await this.giveBack(id);
    else if (isIdle && amount === 0n && reserved === 0n && account.asking === null && account.returning === null) {
      this.#accounts.delete(id);
    }
  }
}
