// Teams: the groups of an organisation's keys and people, nested once, with what their keys may use.

import type { Page } from "./accounts.ts";
import type { Tier } from "./tiers.ts";

/** Bounds of a team for the requests of its keys. A team inside another is bound by both. */
export interface TeamBounds {
  /** Names of models; null allows all. */
  readonly allowedModels: readonly string[] | null;
  readonly tierCeiling: Tier | null;
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
