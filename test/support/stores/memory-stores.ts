// Key and profile stores in memory, with a switch that makes them unreachable and a count of what was asked.

import type { Profile, ProfileStore } from "../../../src/core/accounts.ts";
import type { KeyRecord, KeyStore } from "../../../src/core/keys.ts";
import type { Log } from "../../../src/core/log.ts";
import { StoreUnavailable } from "../../../src/core/store-errors.ts";

export function createMemoryStores() {
  const keyRows = new Map<string, KeyRecord>();
  const profileRows = new Map<string, Profile>();
  const warnings: string[] = [];
  const state = { isDown: false, revision: 0, revisionReads: 0, touches: [] as ReadonlyMap<string, number>[] };

  const reach = async (): Promise<void> => {
    if (state.isDown) throw new StoreUnavailable(new Error("down"));
  };
  const keys: KeyStore = {
    insert: async (key) => {
      await reach();
      keyRows.set(key.id, key);
      state.revision += 1;
    },
    all: async () => {
      await reach();
      return [...keyRows.values()];
    },
    list: async (accountId) => {
      await reach();
      return [...keyRows.values()].filter((key) => key.accountId === accountId);
    },
    count: async () => keyRows.size,
    countByProfile: async () => new Map(),
    get: async (_accountId, id) => keyRows.get(id) ?? null,
    update: async (accountId, id, change) => {
      await reach();
      const key = keyRows.get(id);
      if (key?.accountId !== accountId || key.revokedAtMs !== null) return null;
      const changed = { ...key, ...change };
      keyRows.set(id, changed);
      state.revision += 1;
      return changed;
    },
    revoke: async (accountId, ids, atMs) => {
      await reach();
      const found = ids.flatMap((id) => keyRows.get(id) ?? []).filter((key) => key.accountId === accountId);
      for (const key of found) keyRows.set(key.id, { ...key, revokedAtMs: key.revokedAtMs ?? atMs });
      state.revision += 1;
      return found.map(({ id }) => id);
    },
    touch: async (times) => {
      await reach();
      state.touches.push(times);
    },
    revision: async () => {
      state.revisionReads += 1;
      await reach();
      return state.revision;
    },
  };
  const accounts = { billingModes: async () => new Map<string, never>() };
  const replaceProfile = async (profile: Profile): Promise<boolean> => {
    await reach();
    const isFound = profileRows.has(profile.id);
    if (isFound) profileRows.set(profile.id, profile);
    state.revision += 1;
    return isFound;
  };
  const profiles: ProfileStore = {
    insert: async (profile) => {
      await reach();
      profileRows.set(profile.id, profile);
      state.revision += 1;
    },
    update: replaceProfile,
    setShadow: replaceProfile,
    delete: async (_accountId, id, keysTo) => {
      await reach();
      if (typeof keysTo === "string" && !profileRows.has(keysTo)) return "heir-missing";
      state.revision += 1;
      const moved = keysTo === undefined ? [] : [...keyRows.values()].filter(({ profileId }) => profileId === id);
      for (const key of moved) keyRows.set(key.id, { ...key, profileId: keysTo ?? null });
      return profileRows.delete(id) ? "deleted" : "missing";
    },
    all: async () => {
      await reach();
      return [...profileRows.values()];
    },
    list: async () => [...profileRows.values()],
  };
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: (_fields, message) => void warnings.push(message ?? ""),
    error: () => {},
  };
  const teams = { all: async () => [] };
  return { accounts, keys, profiles, teams, log, state, warnings };
}
