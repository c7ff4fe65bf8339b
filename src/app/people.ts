// Wiring of access: accounts, keys and profiles, users, logins and invitations.

import { type Accounts, createAccounts } from "../accounts/accounts.ts";
import { type Budgets, createBudgets } from "../accounts/budgets/budgets.ts";
import { createDirectory } from "../accounts/directory.ts";
import { createIssuer } from "../accounts/identity/issuer.ts";
import { memberOf } from "../accounts/identity/people.ts";
import { createScim, type Scim } from "../accounts/identity/scim.ts";
import { createScimTokens, type ScimTokens } from "../accounts/identity/scim-tokens.ts";
import { createSignIns, type SignIns } from "../accounts/identity/sign-ins.ts";
import { createTokens, type IdentityTokens } from "../accounts/identity/tokens.ts";
import { createInvitations, type Invitations } from "../accounts/invitations.ts";
import { createKeys, type Keys } from "../accounts/keys.ts";
import type { SignInLimiter } from "../accounts/limits/sign-ins.ts";
import { createWrongKeys, type WrongKeys } from "../accounts/limits/wrong-keys.ts";
import { createLogins, type Logins } from "../accounts/logins.ts";
import { createPasskeys, type Passkeys, type PasskeysOptions } from "../accounts/passkeys.ts";
import { createPasswords, type PasswordCost } from "../accounts/passwords.ts";
import { createProfiles, type Profiles } from "../accounts/profiles.ts";
import { createResets, type Resets } from "../accounts/resets.ts";
import { createSpending, type Spending } from "../accounts/spending.ts";
import { createTeams, type Teams } from "../accounts/teams.ts";
import { createUsers, type Users } from "../accounts/users.ts";
import type { FixedSettings, LiveSettings } from "../config/settings.ts";
import type { AccountStore, BillingMode } from "../core/accounts.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import { createAccountStore } from "../store/accounts/accounts.ts";
import { createBudgetStore } from "../store/accounts/budgets.ts";
import { createIdentityStore, createPendingSignInStore } from "../store/accounts/identities.ts";
import { createInvitationStore } from "../store/accounts/invitations.ts";
import { createKeyStore } from "../store/accounts/keys.ts";
import { createLoginStore } from "../store/accounts/logins.ts";
import { createPasskeyChallengeStore, createPasskeyStore } from "../store/accounts/passkeys.ts";
import { createProfileStore } from "../store/accounts/profiles.ts";
import { createPasswordResetStore } from "../store/accounts/resets.ts";
import { createScimGroupStore } from "../store/accounts/scim-groups.ts";
import { createScimTokenStore } from "../store/accounts/scim-tokens.ts";
import { createScimUserStore } from "../store/accounts/scim-users.ts";
import { createTeamStore } from "../store/accounts/teams.ts";
import { createUserStore } from "../store/accounts/users.ts";
import { auditedDb } from "../store/audit/scope.ts";
import { createKeySpendStore } from "../store/ledger/key-spends.ts";
import { ACCESS_CHANGED, type WorkerSlot } from "./worker.ts";

/** Accounts and the people and programs that act for them. */
export interface People {
  readonly accountStore: AccountStore;
  readonly accounts: Accounts;
  readonly billingModeOf: (accountId: string) => BillingMode;
  readonly keys: Keys;
  readonly budgets: Budgets;
  readonly spending: Spending;
  readonly profiles: Profiles;
  readonly teams: Teams;
  readonly users: Users;
  readonly logins: Logins;
  readonly passkeys: Passkeys;
  readonly signIns: SignIns;
  readonly tokens: IdentityTokens;
  readonly scim: Scim;
  readonly scimTokens: ScimTokens;
  readonly invitations: Invitations;
  readonly resets: Resets;
  readonly wrongKeys: WrongKeys;
  readonly wrongTokens: WrongKeys;
  /** Called when another process may have changed keys or profiles. */
  nudge(): void;
  close(): Promise<void>;
}

/** A token may be short enough to guess, so fewer wrong tokens are allowed than wrong keys. */
const WRONG_TOKENS_PER_MINUTE = 300;

export interface PeopleContext {
  readonly settings: Pick<FixedSettings, "identityProviders">;
  readonly live: () => Pick<LiveSettings, "billing" | "limits">;
  /** Serves lists over many rows. */
  readonly reader: Db;
  readonly log: Log;
  readonly signIns: SignInLimiter;
  readonly passwordCost?: PasswordCost | undefined;
  readonly worker: WorkerSlot | null;
  /** The login that all visitors of a demo share. */
  readonly visitorLogin?: string | undefined;
}

/** Opens and starts these services; `close` writes what waits. */
export async function openPeople(whole: Db, context: PeopleContext): Promise<People> {
  const db = auditedDb(whole);
  const { settings, live, reader, log, signIns, passwordCost, worker, visitorLogin } = context;
  const keyStore = createKeyStore(db, reader);
  const profileStore = createProfileStore(db);
  const teamStore = createTeamStore(db);
  const userStore = createUserStore(db);
  const accountStore = createAccountStore(db);
  const passwords = createPasswords(passwordCost);
  const onChanged = (): void => worker?.link.publish(ACCESS_CHANGED, null);
  const budgetStore = createBudgetStore(db);
  const access = { keys: keyStore, profiles: profileStore, teams: teamStore };
  const stores = { ...access, accounts: accountStore, budgets: budgetStore };
  const scimUsers = createScimUserStore(db);
  const directory = createDirectory({ ...stores, ended: scimUsers, log, onChanged });
  await directory.start();
  const keys = createKeys({ store: keyStore, directory, log });
  keys.start();
  const teams = createTeams({ store: teamStore, directory });
  const identities = createIdentityStore(db);
  const users = createUsers({ store: userStore, passwords, signIns, directory });
  const { identityProviders: providers } = settings;
  const issuers = providers.map((provider) => ({ provider, issuer: createIssuer(provider) }));
  return {
    accountStore,
    accounts: createAccounts({ store: accountStore, directory }),
    billingModeOf: (accountId) => directory.billingMode(accountId) ?? live().billing.billingMode,
    keys,
    budgets: createBudgets({ store: budgetStore, users: userStore, directory }),
    spending: createSpending({ store: createKeySpendStore(db) }),
    profiles: createProfiles({ store: profileStore, directory }),
    teams,
    wrongKeys: sharedWrongKeys("wrong-key", () => live().limits.wrongKeysPerMinute, worker),
    wrongTokens: sharedWrongKeys("wrong-token", () => WRONG_TOKENS_PER_MINUTE, worker),
    users,
    passkeys: openPasskeys(db, { users, limiter: signIns, log }),
    signIns: createSignIns({
      ...{ issuers, users: userStore, accounts: accountStore, teams, limiter: signIns, log, now: Date.now },
      store: identities,
      keysRevoked: directory.changed,
      pending: createPendingSignInStore(db),
    }),
    tokens: createTokens({
      ...{ issuers, keys, accounts: accountStore, teams, hasEnded: directory.hasEnded },
      memberOf: (holder, accountId) => memberOf(holder, accountId, { store: identities, users: userStore }),
    }),
    scim: createScim({ users: scimUsers, groups: createScimGroupStore(db), providers, directory }),
    scimTokens: createScimTokens({ store: createScimTokenStore(db) }),
    logins: createLogins({ store: createLoginStore(db), shared: visitorLogin }),
    invitations: createInvitations({ store: createInvitationStore(db), users: userStore, passwords }),
    resets: createResets({ store: createPasswordResetStore(db), users: userStore, passwords }),
    nudge: directory.nudge,
    async close() {
      directory.stop();
      await keys.stop();
    },
  };
}

function openPasskeys(db: Db, services: Pick<PasskeysOptions, "users" | "limiter" | "log">): Passkeys {
  const challenges = createPasskeyChallengeStore(db);
  return createPasskeys({ ...services, store: createPasskeyStore(db), challenges });
}

/** Counts wrong keys of all workers in each worker. */
export function sharedWrongKeys(topic: string, mostPerMinute: () => number, worker: WorkerSlot | null): WrongKeys {
  const wrong = createWrongKeys(mostPerMinute);
  if (worker === null) return wrong;
  worker.link.on(topic, (address) => wrong.note(String(address)));
  return {
    waitSeconds: wrong.waitSeconds,
    note(address) {
      wrong.note(address);
      worker.link.publish(topic, address);
    },
  };
}
