// Routing profiles: named constraints that a key applies to every request made with it. Behaviour 3.

import { randomBytes } from "node:crypto";
import type { Page, Profile, ProfileStore, ShadowRule } from "../core/accounts.ts";
import type { Constraints } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import { checkedName, shownName } from "../core/names.ts";
import type { Directory } from "./directory.ts";

export interface ProfileContent {
  readonly name: string;
  readonly description?: string | null;
  readonly constraints: Constraints;
}

export interface Profiles {
  create(accountId: string, content: ProfileContent): Promise<Profile>;
  /** Replaces name, description and constraints. Null when the account has no such profile. */
  update(accountId: string, id: string, content: ProfileContent): Promise<Profile | null>;
  /** Sets the rule for samples; null ends them. Returns null when the account has no such profile. */
  setShadow(accountId: string, id: string, shadow: ShadowRule | null): Promise<Profile | null>;
  /**
   * Deletes a profile. The keys of the profile stay and are refused from then on, unless `keysTo` gives them another
   * profile (or none, for null) in the same transaction. False when the account has no such profile.
   */
  delete(accountId: string, id: string, keysTo?: string | null): Promise<boolean>;
  get(accountId: string, id: string): Promise<Profile | null>;
  list(accountId: string, page: Page): Promise<readonly Profile[]>;
  /** From memory; null when the account has no such profile. */
  nameOf(accountId: string, id: string): string | null;
}

export interface ProfilesOptions {
  readonly store: ProfileStore;
  readonly directory: Directory;
  readonly now?: () => number;
}

export function createProfiles({ store, directory, now = Date.now }: ProfilesOptions): Profiles {
  const get = async (accountId: string, id: string): Promise<Profile | null> => {
    await directory.catchUp();
    const profile = directory.profile(id);
    return profile?.accountId === accountId ? profile : null;
  };
  const change = async (
    { accountId, id }: Pick<Profile, "accountId" | "id">,
    changed: Partial<Profile>,
    write: ProfileStore["update"],
  ): Promise<Profile | null> => {
    const old = await get(accountId, id);
    if (old === null) return null;
    const profile = { ...old, ...changed, updatedAtMs: now() };
    if (!(await write(profile))) {
      directory.dropProfile(id);
      return null;
    }
    directory.putProfile(profile);
    return profile;
  };
  const ensureNoDefault = async (id: string): Promise<void> => {
    await directory.catchUp();
    const team = directory.teamWithProfile(id);
    if (team !== undefined) throw isDefault(team.name);
  };
  return {
    create: async (accountId, content) => {
      const atMs = now();
      const id = `profile_${randomBytes(12).toString("hex")}`;
      const profile = { id, accountId, ...checked(content), shadow: null, createdAtMs: atMs, updatedAtMs: atMs };
      await store.insert(profile);
      directory.putProfile(profile);
      return profile;
    },
    update: (accountId, id, content) => change({ accountId, id }, checked(content), store.update),
    setShadow: (accountId, id, shadow) => change({ accountId, id }, { shadow }, store.setShadow),
    delete: async (accountId, id, keysTo) => {
      if (keysTo === id) throw noTargetProfile(keysTo);
      if (keysTo === undefined) await ensureNoDefault(id);
      const outcome = await store.delete(accountId, id, keysTo);
      if (outcome === "heir-missing") throw noTargetProfile(String(keysTo));
      // Memory takes over both changes at once: a moved key is never without a profile.
      if (outcome === "deleted" && keysTo !== undefined) await directory.catchUp();
      else if (outcome === "deleted") directory.dropProfile(id);
      return outcome === "deleted";
    },
    get,
    list: (accountId, page) => store.list(accountId, page),
    nameOf: (accountId, id) => {
      const profile = directory.profile(id);
      return profile?.accountId === accountId ? shownName(profile.name) : null;
    },
  };
}

function isDefault(team: string): GatewayError {
  const message = `This is the default profile of the team "${shownName(team)}". Name another one in 'keysTo', or none.`;
  return new GatewayError("conflict", message, { code: "profile_in_use", param: "keysTo" });
}

function noTargetProfile(id: string): GatewayError {
  const message = `The keys cannot be moved to '${id}': the account has no such other profile. Nothing was changed.`;
  return new GatewayError("badRequest", message, { param: "keysTo" });
}

export const DESCRIPTION_MAX = 500;

function checked(content: ProfileContent): Required<ProfileContent> {
  const name = checkedName("A profile", content.name);
  const description = content.description?.trim() || null;
  if (description !== null && (description.length > DESCRIPTION_MAX || /\p{Cc}/u.test(description))) {
    const message = `A profile's description is one line of at most ${DESCRIPTION_MAX} characters.`;
    throw new GatewayError("badRequest", message, { param: "description" });
  }
  return { name, description, constraints: content.constraints };
}
