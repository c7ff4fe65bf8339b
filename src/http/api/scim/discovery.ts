// Abilities of the SCIM service, as identity providers ask for it.

import type { JsonMap } from "../../../core/overlay.ts";
import { GROUP_SCHEMA, USER_SCHEMA } from "./resources.ts";

export const PAGE_MAX = 200;

const CORE = "urn:ietf:params:scim:schemas:core:2.0";

export const SERVICE_PROVIDER_CONFIG: JsonMap = {
  schemas: [`${CORE}:ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: PAGE_MAX },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "Bearer token",
      description: "A token that an admin of the organisation makes.",
      primary: true,
    },
  ],
};

export const RESOURCE_TYPES: readonly JsonMap[] = [
  resourceType("User", { endpoint: "/Users", schema: USER_SCHEMA }),
  resourceType("Group", { endpoint: "/Groups", schema: GROUP_SCHEMA }),
];

function resourceType(name: string, { endpoint, schema }: { endpoint: string; schema: string }): JsonMap {
  return { schemas: [`${CORE}:ResourceType`], id: name, name, endpoint, schema, schemaExtensions: [] };
}

export const SCHEMAS: readonly JsonMap[] = [
  {
    ...{ schemas: [`${CORE}:Schema`], id: USER_SCHEMA, name: "User", description: "Somebody who may sign in" },
    attributes: [
      attribute("userName", { required: true, uniqueness: "server" }),
      attribute("externalId", { caseExact: true }),
      attribute("displayName"),
      attribute("active", { type: "boolean" }),
      complex("name", [
        attribute("formatted"),
        attribute("familyName"),
        attribute("givenName"),
        attribute("middleName"),
      ]),
      complex("emails", [attribute("value"), attribute("type"), attribute("primary", { type: "boolean" })], true),
      {
        ...complex("groups", [attribute("value", READ_ONLY()), attribute("display", READ_ONLY())], true),
        mutability: "readOnly",
      },
    ],
  },
  {
    ...{ schemas: [`${CORE}:Schema`], id: GROUP_SCHEMA, name: "Group", description: "People who get the same" },
    attributes: [
      attribute("displayName", { required: true, uniqueness: "server" }),
      attribute("externalId", { caseExact: true }),
      complex("members", [attribute("value", { mutability: "immutable" }), attribute("display", READ_ONLY())], true),
    ],
  },
];

function READ_ONLY(): JsonMap {
  return { mutability: "readOnly" };
}

function attribute(name: string, more: JsonMap = {}): JsonMap {
  return {
    ...{ name, type: "string", multiValued: false, description: name, required: false, caseExact: false },
    ...{ mutability: "readWrite", returned: "default", uniqueness: "none", ...more },
  };
}

function complex(name: string, subAttributes: readonly JsonMap[], multiValued = false): JsonMap {
  return { ...attribute(name, { type: "complex", multiValued }), subAttributes };
}
