// Routing profiles: named constraints that a key puts on every request made with it. SPEC 5.5.

import { randomBytes } from "node:crypto";
import type { Constraints } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { Page, Profile, ProfileStore } from "../core/ports.ts";
import type { Directory } from "./directory.ts";

export interface ProfileContent {
  readonly name: string;
  readonly constraints: Constraints;
}

export interface Profiles {
  create(accountId: string, content: ProfileContent): Promise<Profile>;
  /** Replaces name and constraints. Null when the account has no such profile. */
  update(accountId: string, id: string, content: ProfileContent): Promise<Profile | null>;
  /** Keys that refer to it stay and are refused from then on. False when the account has no such profile. */
  delete(accountId: string, id: string): Promise<boolean>;
  get(accountId: string, id: string): Promise<Profile | null>;
  list(accountId: string, page: Page): Promise<readonly Profile[]>;
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
  return {
    create: async (accountId, content) => {
      const atMs = now();
      const id = `profile_${randomBytes(12).toString("hex")}`;
      const profile = { id, accountId, ...checked(content), createdAtMs: atMs, updatedAtMs: atMs };
      await store.insert(profile);
      directory.putProfile(profile);
      return profile;
    },
    update: async (accountId, id, content) => {
      const changed = checked(content);
      const old = await get(accountId, id);
      if (old === null) return null;
      const profile = { ...old, ...changed, updatedAtMs: now() };
      if (!(await store.update(profile))) {
        directory.dropProfile(id);
        return null;
      }
      directory.putProfile(profile);
      return profile;
    },
    delete: async (accountId, id) => {
      const isFound = await store.delete(accountId, id);
      if (isFound) directory.dropProfile(id);
      return isFound;
    },
    get,
    list: (accountId, page) => store.list(accountId, page),
  };
}

function checked(content: ProfileContent): ProfileContent {
  const name = content.name.trim();
  if (name.length < 1 || name.length > 200) {
    throw new GatewayError("badRequest", "A profile's name has 1 to 200 characters.", { param: "name" });
  }
  return { name, constraints: content.constraints };
}
