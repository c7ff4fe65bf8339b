// Keys, profiles, budgets and billing modes in memory, so that a request is admitted without touching the database. One revision number tells
// whether they are current. It is polled, and read when a change is announced; if it moved, everything is read again.

import type { AccountStore, BillingMode, Profile, ProfileStore, Team, TeamStore } from "../core/accounts.ts";
import type { Budget, BudgetStore } from "../core/budgets/budget.ts";
import type { KeyRecord, KeyStore } from "../core/keys.ts";
import type { Log } from "../core/log.ts";
import type { ScimUserStore } from "../core/people.ts";

export interface Directory {
  keyByHash(hash: string): KeyRecord | undefined;
  keyById(id: string): KeyRecord | undefined;
  profile(id: string): Profile | undefined;
  team(id: string): Team | undefined;
  teamNamed(accountId: string, name: string): Team | undefined;
  /** A team with this profile as its default. */
  teamWithProfile(profileId: string): Team | undefined;
  /** Undefined where the account has no mode of its own. */
  billingMode(accountId: string): BillingMode | undefined;
  /** Undefined where the account has none. */
  budgets(accountId: string): readonly Budget[] | undefined;
  /** Tells whether one of these names, in lower case, is that of somebody who is gone. */
  hasEnded(accountId: string, names: readonly string[]): boolean;
  putKey(...keys: readonly KeyRecord[]): void;
  putProfile(profile: Profile): void;
  dropProfile(id: string): void;
  /** Tells other processes of a change that was written here, and reads it. */
  changed(): Promise<void>;
  /** Something that is read again was changed by this process, so that others read it too. */
  noteChange(): void;
  /** Resolves when memory is at least as new as the database was at the time of the call. */
  catchUp(): Promise<void>;
  /** Something may have changed elsewhere: checks soon, and retries with the next poll if that fails. */
  nudge(): void;
  /** Reads everything once, then watches for changes by other processes. */
  start(): Promise<void>;
  stop(): void;
}

export interface DirectoryOptions {
  readonly accounts: Pick<AccountStore, "billingModes">;
  readonly keys: KeyStore;
  readonly profiles: ProfileStore;
  readonly teams: Pick<TeamStore, "all">;
  /** Left out by commands, which admit no requests. */
  readonly budgets?: Pick<BudgetStore, "all">;
  readonly ended?: Pick<ScimUserStore, "endedNames">;
  readonly log: Log;
  readonly pollMs?: number;
  /** Told of each change made by this process, so that others can be. */
  readonly onChanged?: () => void;
}

const NO_BUDGETS: Pick<BudgetStore, "all"> = { all: async () => [] };
const NOBODY: Pick<ScimUserStore, "endedNames"> = { endedNames: async () => new Map() };

/** Revocations by other processes must be seen within five seconds. Behaviour 3. */
const POLL_MS = 2_000;

export function createDirectory(options: DirectoryOptions): Directory {
  const { keys, budgets = NO_BUDGETS, ended = NOBODY, log, pollMs = POLL_MS, onChanged = () => undefined } = options;
  const memory = createMemory(onChanged);
  let seenRevision: number | null = null;
  let isReachable = true;
  let timer: NodeJS.Timeout | null = null;

  const check = async (): Promise<void> => {
    const revision = await keys.revision();
    if (revision === seenRevision) return;
    seenRevision = await readEverything(memory, { ...options, budgets, ended, revision });
  };
  const catchUp = oneAtATime(check);
  const poll = async (): Promise<void> => {
    try {
      await catchUp();
      if (!isReachable) log.info({ event: "keys.reload_recovered" }, "keys and profiles can be read again");
      isReachable = true;
    } catch (error) {
      if (isReachable && timer !== null)
        log.warn(
          { event: "keys.reload_failed", err: error },
          "keys and profiles cannot be read; those already known stay valid",
        );
      isReachable = false;
    }
  };

  return {
    keyByHash: (hash) => memory.keysByHash.get(hash),
    keyById: (id) => memory.keysById.get(id),
    profile: (id) => memory.profiles.get(id),
    team: (id) => memory.teams.get(id),
    teamNamed: (accountId, name) =>
      [...memory.teams.values()].find((team) => team.accountId === accountId && team.name === name),
    teamWithProfile: (id) => [...memory.teams.values()].find(({ profileId }) => profileId === id),
    billingMode: (accountId) => memory.billingModes.get(accountId),
    budgets: (accountId) => memory.budgets.get(accountId),
    hasEnded: (accountId, names) => names.some((name) => memory.ended.get(accountId)?.has(name) === true),
    putKey: memory.putKey,
    ...{ putProfile: memory.putProfile, dropProfile: memory.dropProfile },
    changed: () => {
      memory.noteChange();
      return catchUp();
    },
    noteChange: memory.noteChange,
    catchUp,
    nudge: () => {
      if (timer !== null) void poll();
    },
    start: async () => {
      await catchUp();
      timer ??= setInterval(() => void poll(), pollMs).unref();
    },
    stop: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}

interface Memory {
  keysByHash: Map<string, KeyRecord>;
  keysById: Map<string, KeyRecord>;
  profiles: Map<string, Profile>;
  teams: ReadonlyMap<string, Team>;
  billingModes: ReadonlyMap<string, BillingMode>;
  /** By the id of their account. */
  budgets: ReadonlyMap<string, readonly Budget[]>;
  ended: ReadonlyMap<string, ReadonlySet<string>>;
  /** Counts changes made here, so that a read begun before a change does not undo it. */
  changes: number;
  putKey(...keys: readonly KeyRecord[]): void;
  putProfile(profile: Profile): void;
  dropProfile(id: string): void;
  noteChange(): void;
}

function createMemory(onChanged: () => void): Memory {
  const noteChange = (): void => {
    memory.changes += 1;
    onChanged();
  };
  const memory: Memory = {
    keysByHash: new Map(),
    keysById: new Map(),
    profiles: new Map(),
    teams: new Map(),
    billingModes: new Map(),
    budgets: new Map(),
    ended: new Map(),
    changes: 0,
    noteChange,
    putKey: (...keys) => {
      noteChange();
      for (const key of keys) {
        memory.keysByHash.set(key.hash, key);
        memory.keysById.set(key.id, key);
      }
    },
    putProfile: (profile) => {
      noteChange();
      memory.profiles.set(profile.id, profile);
    },
    dropProfile: (id) => {
      noteChange();
      memory.profiles.delete(id);
    },
  };
  return memory;
}

interface ReadContext
  extends Required<Pick<DirectoryOptions, "accounts" | "keys" | "profiles" | "teams" | "budgets" | "ended">> {
  /** The revision from before the read began. */
  readonly revision: number;
}

/** Returns the revision that memory now corresponds to. */
async function readEverything(memory: Memory, context: ReadContext): Promise<number> {
  const { accounts, keys, profiles, teams, budgets, ended, revision } = context;
  for (let seen = revision; ; ) {
    const changesBefore = memory.changes;
    const billingModes = await accounts.billingModes();
    const budgetRows = await budgets.all();
    const endedNames = await ended.endedNames();
    // Keys first: the profile of a key was made before it, so the second read contains it.
    const keyRows = await keys.all();
    const profileRows = await profiles.all();
    const teamRows = await teams.all();
    const profilesById = new Map(profileRows.map((profile) => [profile.id, profile]));
    const teamsById = new Map(teamRows.map((team) => [team.id, team]));
    // Unless the key was given another profile or team and the old one deleted between the two reads.
    const hasOrphan = keyRows.some(
      ({ profileId, teamId }) =>
        (profileId !== null && !profilesById.has(profileId)) || (teamId !== null && !teamsById.has(teamId)),
    );
    const newest = hasOrphan ? await keys.revision() : seen;
    const isWhole = newest === seen && memory.changes === changesBefore;
    seen = newest;
    if (!isWhole) continue;
    memory.keysByHash = new Map(keyRows.map((key) => [key.hash, key]));
    memory.keysById = new Map(keyRows.map((key) => [key.id, key]));
    memory.profiles = profilesById;
    memory.teams = teamsById;
    memory.billingModes = billingModes;
    memory.budgets = byAccount(budgetRows);
    memory.ended = endedNames;
    return seen;
  }
}

function byAccount(budgets: readonly Budget[]): ReadonlyMap<string, readonly Budget[]> {
  const found = new Map<string, Budget[]>();
  for (const budget of budgets) found.set(budget.accountId, [...(found.get(budget.accountId) ?? []), budget]);
  return found;
}

/** Many unknown keys cost the database one read of one row per this interval. */
const SPACING_MS = 20;

/**
 * Callers during a run share the next one, not the one under way: that may have read before the caller's cause.
 * So there is never more than one run at a time, and at most one every SPACING_MS.
 */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let next: Promise<void> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let lastBeganAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    next ??= last.then(async () => {
      const waitMs = lastBeganAtMs + SPACING_MS - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      next = null;
      lastBeganAtMs = performance.now();
      const run = work();
      last = run.catch(() => undefined);
      return run;
    });
    return next;
  };
}
