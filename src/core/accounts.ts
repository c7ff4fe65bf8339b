// Accounts, their routing profiles and their teams: groups of keys and people, nested once, with what the keys may use.

import type { Constraints } from "./decision.ts";
import type { NanoUsd } from "./money.ts";
import type { Residency } from "./requests/controls.ts";
import type { Tier } from "./tiers.ts";

/** Ways to bill: an empty balance refuses requests (`prepaid`), or a grant covers each charge (`metered`). */
export const BILLING_MODES = ["prepaid", "metered"] as const;
export type BillingMode = (typeof BILLING_MODES)[number];

/** Owner of keys, profiles and credits. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** Overrides the billing mode of the gateway; null keeps that mode. */
  readonly billingMode: BillingMode | null;
  readonly createdAtMs: number;
}

export interface AccountStore {
  insert(account: Account): Promise<void>;
  get(id: string): Promise<Account | null>;
  list(page: Page): Promise<readonly Account[]>;
  /** The account as it is then; null when there is none such. */
  setBillingMode(id: string, mode: BillingMode | null): Promise<Account | null>;
  /** Only of accounts that have a mode of their own. */
  billingModes(): Promise<ReadonlyMap<string, BillingMode>>;
}

/** Keyset pagination: rows after the one with this id, newest first. */
export interface Page {
  readonly limit: number;
  readonly after: string | null;
}

/** Rule that lets a second model answer a share of a profile's requests too. */
export interface ShadowRule {
  readonly model: string;
  /** Part of the requests, 0 to 1. */
  readonly share: number;
  /** For all second answers of a day in UTC. */
  readonly budgetPerDay: NanoUsd;
}

/** Named constraints that a key carries. */
export interface Profile {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** Purpose of the profile, in the words of its author. */
  readonly description: string | null;
  readonly constraints: Constraints;
  /** Rule for second answers. Only operators set it, because they pay for second answers. */
  readonly shadow: ShadowRule | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ProfileStore {
  insert(profile: Profile): Promise<void>;
  /** All but `shadow`. False when the account has no such profile. */
  update(profile: Profile): Promise<boolean>;
  setShadow(profile: Profile): Promise<boolean>;
  /**
   * With `keysTo`, its keys have that profile of the account from then on (or none, for null): both or neither, so that
   * no key is rejected in between. `heir-missing` when the account has no such profile.
   */
  delete(accountId: string, id: string, keysTo?: string | null): Promise<"deleted" | "missing" | "heir-missing">;
  all(): Promise<readonly Profile[]>;
  list(accountId: string, page: Page): Promise<readonly Profile[]>;
}

/** Bounds of a team for the requests of its keys. A team inside another is bound by both. */
interface TeamBounds {
  /** Names of models; null allows all. */
  readonly allowedModels: readonly string[] | null;
  readonly tierCeiling: Tier | null;
  /** Required of every host; null requires nothing. */
  readonly requires: Residency | null;
}

export interface Team extends TeamBounds {
  readonly id: string;
  readonly accountId: string;
  /** Unique in the account. */
  readonly name: string;
  /** The team that this one is part of. That one is part of none. */
  readonly parentId: string | null;
  /** The profile of keys without one of their own. */
  readonly profileId: string | null;
  readonly createdAtMs: number;
}

/** Fields of a team that can change; fields that are left out stay the same. */
export type TeamChange = Partial<Omit<Team, "id" | "accountId" | "createdAtMs">>;

/** `no-parent`: the account has no such team. `too-deep`: one of both teams is part of another, or has parts. */
export type TeamProblem = "missing" | "no-parent" | "too-deep" | "name-taken";

export interface TeamStore {
  insert(team: Team): Promise<TeamProblem | null>;
  update(accountId: string, id: string, change: TeamChange): Promise<TeamProblem | null>;
  /** Keys that are revoked or expired by then leave the team. */
  delete(accountId: string, id: string, atMs: number): Promise<"deleted" | "missing" | "not-empty">;
  all(): Promise<readonly Team[]>;
  list(accountId: string, page: Page): Promise<readonly Team[]>;
  /** Counts the active keys of each team; teams without active keys are left out. */
  countKeys(accountId: string, atMs: number): Promise<ReadonlyMap<string, number>>;
}
