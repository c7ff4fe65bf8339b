// Teams of an account: create, rename, move, bound and delete them.

import { randomBytes } from "node:crypto";
import type { Page, Team, TeamChange, TeamProblem, TeamStore } from "../core/accounts.ts";
import { GatewayError } from "../core/errors.ts";
import { checkedName, shownName } from "../core/names.ts";
import type { Directory } from "./directory.ts";

type TeamContent = Omit<Team, "id" | "accountId" | "createdAtMs">;

export interface Teams {
  create(accountId: string, content: TeamContent): Promise<Team>;
  /** Fields left out stay. Null when the account has no such team. */
  change(accountId: string, id: string, change: TeamChange): Promise<Team | null>;
  /** False when the account has no such team. Throws while it has active keys, members or parts. */
  delete(accountId: string, id: string): Promise<boolean>;
  get(accountId: string, id: string): Promise<Team | null>;
  list(accountId: string, page: Page): Promise<readonly Team[]>;
  /** Counts the active keys of each team, by its id; teams without any are left out. */
  countKeys(accountId: string): Promise<ReadonlyMap<string, number>>;
  /** The id of the team with this name; null when the account has none. */
  idOf(accountId: string, name: string): Promise<string | null>;
  /** The id of those that the account does not have; null when it has all. */
  strangerOf(accountId: string, ids: readonly string[]): Promise<string | null>;
  /** From memory; null when the account has no such team. */
  nameOf(accountId: string, id: string): string | null;
}

export interface TeamsOptions {
  readonly store: TeamStore;
  readonly directory: Directory;
  readonly now?: () => number;
}

export function createTeams({ store, directory, now = Date.now }: TeamsOptions): Teams {
  const get = async (accountId: string, id: string): Promise<Team | null> => {
    await directory.catchUp();
    const team = directory.team(id);
    return team?.accountId === accountId ? team : null;
  };
  const checked = async (accountId: string, change: TeamChange): Promise<TeamChange> => {
    await ensureProfile(directory, accountId, change.profileId ?? null);
    return change.name === undefined ? change : { ...change, name: checkedName("A team", change.name) };
  };
  return {
    create: async (accountId, content) => {
      const id = `team_${randomBytes(12).toString("hex")}`;
      const team = { ...content, ...(await checked(accountId, content)), id, accountId, createdAtMs: now() };
      const problem = await store.insert(team);
      if (problem !== null) throw problemOf(problem);
      await directory.changed();
      return team;
    },
    change: async (accountId, id, change) => {
      const problem = await store.update(accountId, id, await checked(accountId, change));
      if (problem === "missing") return null;
      if (problem !== null) throw problemOf(problem);
      await directory.changed();
      return get(accountId, id);
    },
    delete: async (accountId, id) => {
      const outcome = await store.delete(accountId, id, now());
      if (outcome === "not-empty") throw notEmpty();
      await directory.changed();
      return outcome === "deleted";
    },
    get,
    list: (accountId, page) => store.list(accountId, page),
    countKeys: (accountId) => store.countKeys(accountId, now()),
    idOf: async (accountId, name) => {
      await directory.catchUp();
      return directory.teamNamed(accountId, name)?.id ?? null;
    },
    strangerOf: async (accountId, ids) => {
      await directory.catchUp();
      return ids.find((id) => directory.team(id)?.accountId !== accountId) ?? null;
    },
    nameOf: (accountId, id) => {
      const team = directory.team(id);
      return team?.accountId === accountId ? shownName(team.name) : null;
    },
  };
}

async function ensureProfile(directory: Directory, accountId: string, id: string | null): Promise<void> {
  if (id === null) return;
  await directory.catchUp();
  if (directory.profile(id)?.accountId === accountId) return;
  const message = `The account has no profile "${id}". Create it first, or leave the profile out.`;
  throw new GatewayError("badRequest", message, { param: "profile" });
}

function problemOf(problem: TeamProblem): GatewayError {
  if (problem === "name-taken") {
    const message = "The account has a team of this name already. Choose another name.";
    return new GatewayError("conflict", message, { code: "team_exists", param: "name" });
  }
  const message =
    problem === "no-parent"
      ? "The account has no such parent team. Create it first, or leave the parent out."
      : "Teams nest once: a team inside another has no teams inside, and no team is inside itself.";
  return new GatewayError("badRequest", message, { param: "parent" });
}

function notEmpty(): GatewayError {
  const message = "The team has active keys, members or teams inside. Move or remove them first.";
  return new GatewayError("conflict", message, { code: "team_not_empty" });
}
