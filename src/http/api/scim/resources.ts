// Users and groups as SCIM writes them, and what a resource of an identity provider wants.

import { normalisedEmail } from "../../../accounts/users.ts";
import { isJsonMap, type Json, type JsonMap } from "../../../core/overlay.ts";
import type { ScimGroup, ScimGroupWish, ScimUser, ScimUserWish } from "../../../core/people.ts";
import { isoTime } from "../exchange.ts";
import { wrong } from "./filter.ts";

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group";

const TEXT_MAX = 500;
const MEMBERS_MAX = 10_000;
const NAME_PARTS = ["formatted", "familyName", "givenName", "middleName"] as const;

/** Writes a user; `base` is the address of the SCIM service. */
export function writeUser({ user, profile, changedAtMs, groups }: ScimUser, base: string): JsonMap {
  return {
    ...editableUser({ user, profile }),
    schemas: [USER_SCHEMA],
    id: user.id,
    groups: groups.map(({ id, displayName }) => ({
      ...{ value: id, display: displayName, type: "direct" },
      $ref: `${base}/Groups/${id}`,
    })),
    meta: metaOf("User", { base, id: user.id, createdAtMs: user.createdAtMs, changedAtMs }),
  };
}

/** The attributes that an identity provider may change. */
export function editableUser({ user, profile }: Pick<ScimUser, "user" | "profile">): JsonMap {
  const { userName, externalId, displayName, name } = profile;
  return {
    userName,
    ...(externalId === null ? {} : { externalId }),
    ...(displayName === null ? {} : { displayName }),
    name,
    emails: [{ value: user.email, type: "work", primary: true }],
    active: user.deactivatedAtMs === null,
  };
}

/** A resource without `active` changes nothing about access: null for somebody new, who is let in. */
export function readUser(given: JsonMap, current: ScimUser | null): ScimUserWish {
  const resource = inLowerCase(given);
  const userName = textOf(resource.username, "userName");
  if (userName === null) throw wrong("invalidValue", "'userName' is missing.");
  const email = emailOf(resource.emails) ?? normalisedEmail(userName) ?? current?.user.email ?? null;
  if (email === null) {
    throw wrong("invalidValue", "Neither 'emails' nor 'userName' has an e-mail address. People sign in by it.");
  }
  const names = isJsonMap(resource.name) ? inLowerCase(resource.name) : {};
  const parts = NAME_PARTS.map((part) => [part, textOf(names[part.toLowerCase()], part)] as const);
  return {
    email,
    isActive: flagOf(resource.active, current === null || current.user.deactivatedAtMs === null),
    profile: {
      userName,
      externalId: textOf(resource.externalid, "externalId"),
      displayName: textOf(resource.displayname, "displayName"),
      name: Object.fromEntries(parts.flatMap(([part, text]) => (text === null ? [] : [[part, text]]))),
    },
  };
}

export function writeGroup(group: ScimGroup, base: string): JsonMap {
  const { id, displayName, externalId, members } = group;
  return {
    schemas: [GROUP_SCHEMA],
    id,
    ...(externalId === null ? {} : { externalId }),
    displayName,
    members: members.map((member) => ({
      ...{ value: member.id, display: member.email, type: "User" },
      $ref: `${base}/Users/${member.id}`,
    })),
    meta: metaOf("Group", { base, ...group }),
  };
}

export function editableGroup({ displayName, externalId, members }: ScimGroup): JsonMap {
  const own: JsonMap = externalId === null ? {} : { externalId };
  return { displayName, ...own, members: members.map(({ id }) => ({ value: id })) };
}

export function readGroup(given: JsonMap): ScimGroupWish {
  const { displayname, externalid, members = [] } = inLowerCase(given);
  const displayName = textOf(displayname, "displayName");
  if (displayName === null) throw wrong("invalidValue", "'displayName' is missing.");
  const items = Array.isArray(members) ? (members as readonly Json[]) : [members];
  if (items.length > MEMBERS_MAX) throw wrong("tooMany", `A group has at most ${MEMBERS_MAX} members.`);
  const memberIds = items.flatMap((item) => {
    const id = isJsonMap(item) ? textOf(inLowerCase(item).value, "value") : null;
    if (id === null) throw wrong("invalidValue", "A member has no 'value'.");
    return id;
  });
  return { displayName, externalId: textOf(externalid, "externalId"), memberIds: [...new Set(memberIds)] };
}

interface Dated {
  readonly base: string;
  readonly id: string;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

function metaOf(resourceType: "User" | "Group", { base, id, createdAtMs, changedAtMs }: Dated): JsonMap {
  return {
    resourceType,
    ...{ created: isoTime(createdAtMs), lastModified: isoTime(changedAtMs) },
    location: `${base}/${resourceType}s/${id}`,
  };
}

/** Names of attributes are written in any case. */
function inLowerCase(given: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The primary address, else the one for work, else the first. */
function emailOf(given: Json | undefined): string | null {
  const items = (Array.isArray(given) ? (given as readonly Json[]) : [given ?? null])
    .filter(isJsonMap)
    .map(inLowerCase);
  const chosen = items.find(({ primary }) => flagOf(primary, false)) ?? items.find(({ type }) => type === "work");
  const value = (chosen ?? items[0])?.value;
  return typeof value === "string" ? normalisedEmail(value) : null;
}

/** Entra writes flags as text. */
function flagOf(given: Json | undefined, otherwise: boolean): boolean {
  if (given === undefined || given === null) return otherwise;
  const text = String(given).toLowerCase();
  if (text !== "true" && text !== "false") throw wrong("invalidValue", "A flag must be true or false.");
  return text === "true";
}

/** Returns null for an attribute that has no text. */
function textOf(given: Json | undefined, name: string): string | null {
  if (given === undefined || given === null || given === "") return null;
  const isText = typeof given === "string" && given.length <= TEXT_MAX && !/\p{Cc}/u.test(given);
  if (!isText) throw wrong("invalidValue", `'${name}' must be text of at most ${TEXT_MAX} characters.`);
  return given.toWellFormed().trim() || null;
}
