// Leases: credit that this process has set aside in the store. Holds are taken from a lease in memory, so no request waits
// for a disk before its provider is called. Only wallets with plenty of credit are leased from; unused leases are returned.

import { isOfBatch } from "../core/batches/holds.ts";
import type { BudgetHold, BudgetTerm, WantedLease } from "../core/budgets/counter.ts";
import type {
  HoldOp,
  HoldOutcome,
  LeaseOutcome,
  LedgerOp,
  LedgerOutcome,
  ReservedHold,
  SettleOutcome,
} from "../core/ledger.ts";
import type { NanoUsd } from "../core/money.ts";

export interface LeasesOptions {
  readonly owner: string;
  /** Rejects if the store is away. `doubt` was called before that. */
  readonly submit: (op: LedgerOp) => Promise<LedgerOutcome>;
  /** Reads the epochs of all wallets that this process leases from, so that idle leases cost no commits. */
  readonly epochs: () => Promise<ReadonlyMap<string, number>>;
  /** True while the store accepts no writes. */
  readonly isStoreFailing: () => boolean;
  /** Time for which this process counts as alive after its last beat. */
  readonly trustMs: number;
  readonly clock: () => number;
}

/** Requests that a lease must cover to be worth a commit. */
const REQUESTS_MIN = 4n;
/** Idle time after which a lease is returned. An answer may take many seconds, and the next request follows it. */
const IDLE_MS = 30_000;
/** Age of the known epoch after which the store is asked for the current one. */
const HEAR_MS = 500;
/** Pauses before the next request for a lease: after a full share, and after the wallet had too little. */
const FILLED_MS = 100;
const SCARCE_MS = 1_000;
/** Pause after a lease was recalled. */
const RECALLED_MS = 2_000;
/** Time for which a soft budget counts as spent without asking again. */
const SPENT_MS = 5_000;
/** Leases of budgets that an account has here at a time. A budget for each end user would bring thousands. */
const BUDGETS_MAX = 256;

/** Outcome of a settlement that was booked before. */
const NOTHING_LEFT: { readonly lease?: never; readonly budgetsLeft?: never } = {};

function hasLease({ amount, budgets }: LeasedAccount): boolean {
  if (amount > 0n) return true;
  for (const budget of budgets.values()) if (budget.amount > 0n) return true;
  return false;
}

function budgetOf({ budgets }: LeasedAccount, counter: string, limit: NanoUsd): LeasedBudget {
  const known = budgets.get(counter);
  if (known !== undefined) return known;
  const budget: LeasedBudget = { amount: 0n, reserved: 0n, filledTo: 0n, limit, askAfterMs: 0, spentUntilMs: 0 };
  budgets.set(counter, budget);
  return budget;
}

function fillBudgets(
  { budgets }: LeasedAccount,
  { budgets: amounts, spentBudgets = [] }: Extract<LeaseOutcome, { readonly state: "leased" }>,
  nowMs: number,
): void {
  for (const [counter, amount] of amounts ?? []) {
    const budget = budgets.get(counter);
    if (budget === undefined) continue;
    budget.spentUntilMs = spentBudgets.includes(counter) ? nowMs + SPENT_MS : 0;
    budget.askAfterMs = nowMs + (amount > budget.amount ? FILLED_MS : SCARCE_MS);
    budget.amount = amount;
    budget.filledTo = amount;
  }
}

const NO_EPOCHS: ReadonlyMap<string, number> = new Map();

/** The lease of one account, and its part that is in use. */
interface LeasedAccount {
  readonly id: string;
  /** Amount in the store. */
  amount: NanoUsd;
  /** Amount that open requests have reserved. */
  reserved: NanoUsd;
  /** Amount when the lease was last filled up. */
  filledTo: NanoUsd;
  /** Epoch of the wallet. A new epoch recalls all leases. Null before the first lease. */
  epoch: number | null;
  usedAtMs: number;
  heardAtMs: number;
  /** Earliest time to ask for a lease again. */
  askAfterMs: number;
  /** False if `amount` may be wrong. Nothing is reserved until the lease was returned. */
  isSure: boolean;
  asking: Promise<void> | null;
  returning: Promise<void> | null;
  /** Leases of budgets, by counter. They come with the lease of the account, and go back with it. */
  readonly budgets: Map<string, LeasedBudget>;
}

/** The lease of one budget, and its part that is in use. */
interface LeasedBudget {
  amount: NanoUsd;
  reserved: NanoUsd;
  filledTo: NanoUsd;
  /** The amount of the budget for which it was leased. */
  limit: NanoUsd;
  askAfterMs: number;
  /** A soft budget is known to be spent until then. Requests reserve nothing from it, and are counted by their charges. */
  spentUntilMs: number;
}

/** A hold that was taken in memory. */
type TakenHold = Extract<HoldOutcome, { readonly state: "held" }>;

type OwnHold = ReservedHold & { readonly id: string; readonly accountId: string };

export class Leases {
  readonly #options: LeasesOptions;
  readonly #accounts = new Map<string, LeasedAccount>();
  readonly #holds = new Map<string, OwnHold>();
  /** Metered accounts with a wallet in the store. Their balance limits nothing. */
  readonly #metered = new Set<string>();
  /** Time at which the last stored beat was sent. */
  #aliveAtMs: number | null = null;
  #isClosed = false;
  #isListening = false;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Reserves from the lease. Returns null if the store has to take the hold. */
  take(op: Omit<HoldOp, "kind">): TakenHold | null {
    const [amount = 0n] = op.amounts;
    if (op.spendLimit !== null || isOfBatch(op.id) || !this.#mayReserve()) return null;
    if (op.budgets !== undefined) return op.isMetered ? null : this.#takeWithin(op, amount, op.budgets);
    if (op.isMetered) return this.#metered.has(op.accountId) ? this.#reserve(op, amount) : null;
    const account = this.#account(op.accountId);
    const free = account.amount - account.reserved;
    if (free - amount <= account.filledTo / 2n) this.#ask(account, amount * REQUESTS_MIN);
    if (free <= 0n || free < amount || !account.isSure || account.returning !== null) return null;
    account.usedAtMs = this.#options.clock();
    account.reserved += amount;
    return this.#reserve(op, amount);
  }

  /** Reserves from the leases of the account and of all its budgets that hold for the request. */
  #takeWithin(op: Omit<HoldOp, "kind">, amount: NanoUsd, terms: readonly BudgetTerm[]): TakenHold | null {
    const account = this.#account(op.accountId);
    const free = account.amount - account.reserved;
    const nowMs = this.#options.clock();
    const wanted: WantedLease[] = [];
    const holds: BudgetHold[] = [];
    const spentBudgets: string[] = [];
    let isCovered = free > 0n && free >= amount && account.isSure && account.returning === null;
    for (const { counter, limit, fromMs, most, isHard } of terms) {
      const part = most !== null && most < amount ? most : amount;
      const budget = budgetOf(account, counter, limit);
      // The budget was changed: leases of the old amount go back.
      if (budget.limit !== limit) {
        void this.recall(op.accountId);
        return null;
      }
      const rest = budget.amount - budget.reserved - part;
      if (rest <= budget.filledTo / 2n && nowMs >= budget.askAfterMs) {
        wanted.push({ counter, limit, fromMs, isHard, atLeast: part * REQUESTS_MIN });
      }
      const isSpent = !isHard && nowMs < budget.spentUntilMs;
      isCovered &&= isSpent || (rest >= 0n && budget.amount > 0n);
      holds.push({ counter, amount: isSpent ? 0n : part });
      if (isSpent) spentBudgets.push(counter);
    }
    const isLow = free - amount <= account.filledTo / 2n;
    if (isLow || wanted.length > 0) this.#ask(account, amount * REQUESTS_MIN, wanted);
    if (!isCovered) return null;
    account.usedAtMs = nowMs;
    account.reserved += amount;
    for (const { counter, amount: part } of holds) (account.budgets.get(counter) as LeasedBudget).reserved += part;
    const taken = this.#reserve(op, amount, holds);
    return spentBudgets.length === 0 ? taken : { ...taken, spentBudgets };
  }

  /** Returns a hold that was taken here, as its settlement must carry it; undefined for other holds. */
  reserved(holdId: string): ReservedHold | undefined {
    return this.#holds.get(holdId);
  }

  /** Forgets a hold that was taken here. Returns true if the store cannot know the hold. */
  release(holdId: string): boolean {
    const hold = this.#holds.get(holdId);
    if (hold === undefined) return false;
    this.#holds.delete(holdId);
    if (hold.isMetered) return hold.isFresh;
    const account = this.#account(hold.accountId);
    account.reserved -= hold.amount;
    for (const { counter, amount } of hold.budgets ?? []) {
      const budget = account.budgets.get(counter);
      if (budget !== undefined) budget.reserved -= amount;
    }
    return hold.isFresh;
  }

  /** Credit that is on hold in memory alone. */
  heldFor(accountId: string): NanoUsd {
    return this.#accounts.get(accountId)?.reserved ?? 0n;
  }

  /** Leased credit that no request has reserved. */
  freeFor(accountId: string): NanoUsd {
    const account = this.#accounts.get(accountId);
    if (account === undefined || !account.isSure || account.returning !== null || !this.#mayReserve()) return 0n;
    return account.amount - account.reserved;
  }

  /** Called for every committed operation, in the order of the commits. */
  committed(op: LedgerOp, outcome: LedgerOutcome): void {
    if (op.kind === "settle") this.#settled(op.holdId, outcome as SettleOutcome);
    if (op.kind === "hold" && op.isMetered && outcome.state === "held") this.#metered.add(op.accountId);
    if (op.kind === "lease") this.#heard(this.#account(op.accountId), outcome as LeaseOutcome);
    if (op.kind !== "return" || op.owner !== this.#options.owner) return;
    for (const { id } of op.holds) this.release(id);
    const account = this.#account(op.accountId);
    account.amount = 0n;
    account.filledTo = 0n;
    account.budgets.clear();
    account.isSure = true;
  }

  /** Notes a stored beat. After a long gap, other processes may have ended the leases. */
  alive(sentAtMs: number): void {
    if (this.#isSilentAt(sentAtMs)) this.doubt();
    this.#aliveAtMs = sentAtMs;
  }

  /** Distrusts all leases: each must be returned before anything is reserved again. */
  doubt(): void {
    this.#metered.clear();
    for (const account of this.#accounts.values()) account.isSure = false;
  }

  /** Returns the lease of an account. Its reservations become holds in the store. Never rejects. */
  giveBack(accountId: string): Promise<void> {
    const account = this.#account(accountId);
    account.returning ??= this.#return(account).finally(() => {
      account.returning = null;
    });
    return account.returning;
  }

  /** Like giveBack, but waits before leasing again, so that another process can use the credit. */
  recall(accountId: string): Promise<void> {
    this.#account(accountId).askAfterMs = this.#options.clock() + RECALLED_MS;
    return this.giveBack(accountId);
  }

  /** Returns idle leases, and checks whether the others were recalled. */
  async tidy(): Promise<void> {
    if (this.#options.isStoreFailing()) return;
    const nowMs = this.#options.clock();
    const accounts = [...this.#accounts.values()];
    const unheard = accounts.filter((account) => hasLease(account) && nowMs - account.heardAtMs >= HEAR_MS);
    if (unheard.length > 0 && !this.#isListening) void this.#listen(unheard);
    await Promise.all(accounts.map((account) => this.#tidyOne(account, nowMs)));
  }

  /** Stops reserving, and returns all leases. */
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
      ...{ usedAtMs: nowMs, heardAtMs: nowMs, askAfterMs: 0, budgets: new Map() },
    };
    this.#accounts.set(id, account);
    return account;
  }

  #reserve(op: Omit<HoldOp, "kind">, amount: NanoUsd, budgets?: readonly BudgetHold[]): TakenHold {
    const { id, accountId, keyId, isMetered } = op;
    const { owner } = this.#options;
    const isFresh = true;
    if (budgets === undefined) this.#holds.set(id, { id, accountId, owner, keyId, amount, isMetered, isFresh });
    else this.#holds.set(id, { id, accountId, owner, keyId, amount, isMetered, isFresh, budgets });
    return { state: "held", amount };
  }

  /** Asks for a lease in the background. Until it comes, requests take their holds from the store. */
  #ask(account: LeasedAccount, atLeast: NanoUsd, budgets: readonly WantedLease[] = []): void {
    const { submit, owner, clock } = this.#options;
    if (account.asking !== null || account.returning !== null || !account.isSure) return;
    if (clock() < account.askAfterMs) return;
    const op = { kind: "lease", owner, accountId: account.id, atLeast, epoch: account.epoch } as const;
    account.asking = submit(budgets.length === 0 ? op : { ...op, budgets })
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

  /** Polls wallet epochs in the background. Returns leases that other processes need; distrusts leases the store no longer has. */
  async #listen(accounts: readonly LeasedAccount[]): Promise<void> {
    this.#isListening = true;
    const epochs = await this.#options.epochs().catch(() => NO_EPOCHS);
    this.#isListening = false;
    for (const account of accounts) {
      const epoch = epochs.get(account.id);
      // A lease request that started meanwhile brings a newer epoch.
      if (account.asking !== null || account.returning !== null || !hasLease(account)) continue;
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
    // The store may know these holds from now on, even if its answer is lost.
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
      fillBudgets(account, outcome, nowMs);
    } else if (outcome.reason === "scarce") account.askAfterMs = nowMs + SCARCE_MS;
    else void this.recall(account.id);
  }

  #settled(holdId: string, outcome: SettleOutcome): void {
    const hold = this.#holds.get(holdId);
    if (hold === undefined) return;
    this.release(holdId);
    if (hold.isMetered) return;
    const account = this.#account(hold.accountId);
    const { lease, budgetsLeft } = outcome.state === "settled" ? outcome : NOTHING_LEFT;
    for (const [counter, left] of budgetsLeft ?? []) {
      const budget = account.budgets.get(counter);
      if (budget !== undefined) budget.amount = left;
    }
    // An earlier attempt was booked, but its answer was lost.
    if (lease === undefined) {
      account.isSure = false;
      return;
    }
    account.amount = lease.left;
    account.heardAtMs = this.#options.clock();
    const isWanted = account.epoch !== lease.epoch;
    account.epoch = lease.epoch;
    // The wallet is nearly empty, so other processes will need the lease.
    if (isWanted || lease.available < account.amount) void this.recall(account.id);
  }

  async #tidyOne(account: LeasedAccount, nowMs: number): Promise<void> {
    const { id, reserved, usedAtMs } = account;
    const isIdle = nowMs - usedAtMs >= IDLE_MS;
    const isTooMany = account.budgets.size > BUDGETS_MAX;
    if (!account.isSure || isTooMany || (isIdle && hasLease(account))) await this.giveBack(id);
    else if (isIdle && reserved === 0n && account.asking === null && account.returning === null) {
      this.#accounts.delete(id);
    }
  }
}
