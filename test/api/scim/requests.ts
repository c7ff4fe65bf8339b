// Requests as Okta and Microsoft Entra write them, by the documentation of both.

export const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

const patch = (...operations: readonly object[]) => ({ schemas: [PATCH], Operations: operations });

/** A full user with a random password, `groups` and `displayName`; flags are flags; PATCH has no path. */
export const okta = {
  user: (email: string, more: object = {}) => ({
    schemas: [USER],
    userName: email,
    name: { givenName: "Ada", familyName: "Lovelace" },
    emails: [{ primary: true, value: email, type: "work" }],
    displayName: "Ada Lovelace",
    locale: "en-US",
    externalId: "00u1a2b3c4",
    groups: [],
    password: "1mz050nq",
    active: true,
    ...more,
  }),
  setActive: (active: boolean) => patch({ op: "replace", value: { active } }),
  group: (displayName: string) => ({ schemas: [GROUP], displayName, members: [] }),
  rename: (id: string, displayName: string) => patch({ op: "replace", value: { id, displayName } }),
  add: (id: string, display: string) => patch({ op: "add", path: "members", value: [{ value: id, display }] }),
  remove: (id: string) => patch({ op: "remove", path: `members[value eq "${id}"]` }),
  replace: (...ids: readonly string[]) =>
    patch({ op: "replace", path: "members", value: ids.map((value) => ({ value, display: value })) }),
};

/** Operations begin with a capital, flags are text, paths have filters, and other schemas are mixed in. */
export const entra = {
  user: (email: string, more: object = {}) => ({
    schemas: [USER, ENTERPRISE],
    externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
    userName: email,
    active: true,
    displayName: "Grace Hopper",
    emails: [{ primary: true, type: "work", value: email }],
    meta: { resourceType: "User" },
    name: { formatted: "Grace Hopper", familyName: "Hopper", givenName: "Grace" },
    roles: [],
    [ENTERPRISE]: { department: "Navy", manager: "b2" },
    ...more,
  }),
  setActive: (active: boolean) => patch({ op: "Replace", path: "active", value: active ? "True" : "False" }),
  changeMail: (email: string) =>
    patch(
      { op: "Replace", path: 'emails[type eq "work"].value', value: email },
      { op: "Replace", path: "name.familyName", value: "Murray" },
      { op: "Add", path: `${ENTERPRISE}:department`, value: "Research" },
    ),
  /** With the setting for stricter SCIM, several attributes are one value. */
  changeWhole: (displayName: string) =>
    patch({
      op: "replace",
      value: { displayName, "name.givenName": "Amazing", [`${ENTERPRISE}:employeeNumber`]: "7", active: true },
    }),
  group: (displayName: string, externalId: string) => ({
    schemas: [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
    externalId,
    displayName,
    meta: { resourceType: "Group" },
  }),
  rename: (displayName: string) => patch({ op: "Replace", path: "displayName", value: displayName }),
  add: (...ids: readonly string[]) =>
    patch({ op: "Add", path: "members", value: ids.map((value) => ({ $ref: null, value })) }),
  remove: (...ids: readonly string[]) =>
    patch({ op: "Remove", path: "members", value: ids.map((value) => ({ $ref: null, value })) }),
};
