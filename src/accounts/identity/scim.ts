// People and groups as an identity provider manages them by SCIM. Groups give roles and teams by the rules that hold for
// the claim `groups` at sign-in.

import { randomBytes } from "node:crypto";
import { GatewayError } from "../../core/errors.ts";
import type {
  IdentityProvider,
  PeopleFilter,
  ScimFound,
  ScimGiving,
  ScimGroup,
  ScimGroupStore,
  ScimGroupWish,
  ScimProblem,
  ScimRange,
  ScimSearch,
  ScimToken,
  ScimUser,
  ScimUserStore,
  ScimUserWish,
  User,
  UserGrant,
  UserRole,
} from "../../core/people.ts";
import type { Directory } from "../directory.ts";
import { noPassword } from "../passwords.ts";
import { outcomeOf, outcomesOf } from "./claims.ts";
import { belowOperator } from "./people.ts";

/** A caller sees and changes what its token reaches. Whatever else there is looks missing. */
export interface Scim {
  users(token: ScimToken, search: ScimSearch, range: ScimRange): Promise<ScimFound<ScimUser>>;
  createUser(token: ScimToken, wish: ScimUserWish): Promise<ScimUser>;
  /** Ends keys, sessions and tokens at once where the wish is inactive. */
  changeUser(token: ScimToken, id: string, edit: (current: ScimUser) => ScimUserWish): Promise<ScimUser>;
  deleteUser(token: ScimToken, id: string): Promise<void>;
  groups(token: ScimToken, search: ScimSearch, range: ScimRange): Promise<ScimFound<ScimGroup>>;
  createGroup(token: ScimToken, wish: ScimGroupWish): Promise<ScimGroup>;
  changeGroup(token: ScimToken, id: string, edit: (current: ScimGroup) => ScimGroupWish): Promise<ScimGroup>;
  deleteGroup(token: ScimToken, id: string): Promise<void>;
}

export interface ScimContext {
  readonly users: ScimUserStore;
  readonly groups: ScimGroupStore;
  readonly providers: readonly IdentityProvider[];
  readonly directory: Pick<Directory, "changed" | "catchUp" | "teamNamed">;
  readonly now?: () => number;
}

/** Role of somebody new to whom no rule and no default gives one. */
const NEW_ROLE: UserRole = "member";

export function createScim({ users, groups, providers, directory, now = Date.now }: ScimContext): Scim {
  const changed = async (problem: ScimProblem | null): Promise<void> => {
    if (problem !== null) throw refusalOf(problem);
    await directory.changed();
  };
  const user = async (token: ScimToken, id: string) => only(await users.find(reachOf(token), { id }, ONE));
  const group = async (token: ScimToken, id: string) => only(await groups.find(reachOf(token), { id }, ONE));
  const giving = async (token: ScimToken): Promise<ScimGiving> => {
    await directory.catchUp();
    return { atMs: now(), grantOf: granter(token, { providers, directory }) };
  };
  return {
    users: (token, search, range) => users.find(reachOf(token), search, range),
    createUser: async (token, wish) => {
      const made = newUser(token, wish, { role: defaultRole(token, providers) ?? NEW_ROLE, atMs: now() });
      await changed(await users.insert(made, wish));
      return user(token, made.id);
    },
    changeUser: async (token, id, edit) => {
      await changed(await users.update(reachOf(token), id, { atMs: now(), edit }));
      return user(token, id);
    },
    deleteUser: async (token, id) => changed(await users.delete(reachOf(token), id, now())),
    groups: (token, search, range) => groups.find(reachOf(token), search, range),
    createGroup: async (token, wish) => {
      const id = `group_${randomBytes(12).toString("hex")}`;
      await changed(await groups.insert(reachOf(token), { ...wish, id }, await giving(token)));
      return group(token, id);
    },
    changeGroup: async (token, id, edit) => {
      await changed(await groups.update(reachOf(token), id, { ...(await giving(token)), edit }));
      return group(token, id);
    },
    deleteGroup: async (token, id) => changed(await groups.delete(reachOf(token), id, await giving(token))),
  };
}

const ONE: ScimRange = { offset: 0, limit: 1 };

function reachOf({ accountId, reachesOperators }: ScimToken): PeopleFilter {
  return { accountId, hasOperators: reachesOperators };
}

function newUser(
  { accountId }: ScimToken,
  { email, isActive }: ScimUserWish,
  { role, atMs }: { readonly role: UserRole; readonly atMs: number },
): User {
  return {
    id: `user_${randomBytes(12).toString("hex")}`,
    ...{ email, role, accountId, teamIds: [], passwordHash: noPassword() },
    ...{ createdAtMs: atMs, lastSignInAtMs: null, deactivatedAtMs: isActive ? null : atMs },
  };
}

interface GrantRules {
  readonly providers: readonly IdentityProvider[];
  readonly directory: Pick<Directory, "teamNamed">;
}

/** Admins may make tokens, so a token of theirs makes nobody an operator. */
function granter(token: ScimToken, { providers, directory }: GrantRules): ScimGiving["grantOf"] {
  const all = providers.flatMap(({ rules }) => rules).filter(({ claim }) => claim === "groups");
  const rules = all.filter(({ role }) => token.reachesOperators || role !== "operator");
  return (user, names): UserGrant => {
    const [provider, claims] = [{ rules, trustsEmail: false }, { groups: names }];
    const role = outcomeOf(provider, "role", claims);
    const teams = outcomesOf(provider, "team", claims);
    const found = teams.state === "given" ? teams.value : [];
    const ids = found.flatMap((name) => directory.teamNamed(token.accountId, name)?.id ?? []);
    return {
      ...(role.state === "given" && { role: role.value }),
      ...(role.state === "none" && { role: defaultRole(token, providers) ?? belowOperator(user.role) }),
      ...(teams.state !== "unknown" && { teamIds: ids }),
    };
  };
}

function defaultRole(token: ScimToken, providers: readonly IdentityProvider[]): UserRole | null {
  const role = providers.find((provider) => provider.defaultRole !== null)?.defaultRole ?? null;
  return role === "operator" && !token.reachesOperators ? NEW_ROLE : role;
}

function only<Row>({ rows: [found] }: ScimFound<Row>): Row {
  if (found === undefined) throw refusalOf("missing");
  return found;
}

/** The codes are those of SCIM, where it has one. */
function refusalOf(problem: ScimProblem): GatewayError {
  if (problem === "missing") return new GatewayError("notFound", "There is no such resource.");
  if (problem === "no-member") {
    return new GatewayError("badRequest", "A member is no user of the organisation.", { code: "invalidValue" });
  }
  if (problem === "taken") {
    return new GatewayError("conflict", "The name or the e-mail address is in use.", { code: "uniqueness" });
  }
  const message = "The last operator with a password cannot be deactivated or deleted. Invite another one first.";
  return new GatewayError("conflict", message, { code: "mutability" });
}
