// /scim/v2: people and groups of an organisation, managed by its identity provider (RFC 7643, RFC 7644).

import { Type } from "typebox";
import { GatewayError } from "../../../core/errors.ts";
import type { JsonMap } from "../../../core/overlay.ts";
import type { ScimGroup, ScimUser } from "../../../core/people.ts";
import type { OperatorContext } from "../../context.ts";
import { type Parameter, query } from "../../openapi/operation.ts";
import { AnyText, named } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { type ApiCall, type ApiRoute, del, get, patch, post, put } from "../route.ts";
import { RESOURCE_TYPES, SCHEMAS, SERVICE_PROVIDER_CONFIG } from "./discovery.ts";
import { baseOf, chosenOf, listOf, rangeOf, resourceIdOf, SCIM_PATH, searchOf, tokenOf } from "./exchange.ts";
import { patched } from "./patch.ts";
import { editableGroup, editableUser, readGroup, readUser, writeGroup, writeUser } from "./resources.ts";

/** RFC 7643 says what is in it. */
const resource = (name: string) => Type.Unsafe<JsonMap>({ type: "object", $id: name });
const UserResource = resource("ScimUser");
const GroupResource = resource("ScimGroup");
const PatchBody = resource("ScimPatch");
const Described = resource("ScimDescription");
const listed = (name: string) =>
  named(name, {
    schemas: Type.Array(AnyText),
    totalResults: Type.Integer(),
    startIndex: Type.Integer(),
    itemsPerPage: Type.Integer(),
    Resources: Type.Array(Type.Unsafe<JsonMap>({ type: "object" })),
  });
const ListBody = listed("ScimList");

const chosen: readonly Parameter[] = [
  query("attributes", AnyText, "Attributes to return, with commas."),
  query("excludedAttributes", AnyText, "Attributes to leave out, such as `members`."),
];
const search: readonly Parameter[] = [
  query("filter", AnyText, 'Such as `userName eq "ada@example.com"`: equality, joined by `and`.'),
  query("startIndex", Type.Integer({ default: 1 })),
  query("count", Type.Integer({ default: 200 })),
  ...chosen,
];

const EXAMPLE = { userName: "ada@example.com", emails: [{ value: "ada@example.com", primary: true }], active: true };
const DEACTIVATION = { Operations: [{ op: "replace", path: "active", value: false }] };

const usual = { access: "scim" } as const;

const USERS: readonly ApiRoute[] = [
  get("listScimUsers", `${SCIM_PATH}/Users`, {
    ...{ ...usual, summary: "The people of the organisation", parameters: search, response: ListBody },
    async handle({ request }, edge) {
      const [range, pick] = [rangeOf(request), chosenOf(request)];
      const found = await edge.scim.users(tokenOf(request), searchOf(request), range);
      return listOf(found, range, (each) => pick(writeUser(each, baseOf(request, edge))));
    },
  }),
  post("createScimUser", `${SCIM_PATH}/Users`, {
    ...{ ...usual, summary: "Create a user, without a password and with the role `member` or the default one" },
    ...{ body: UserResource, example: EXAMPLE, status: 201, response: UserResource, errors: [409] },
    async handle(call, edge) {
      const made = await edge.scim.createUser(tokenOf(call.request), readUser(call.body(), null));
      return located(call, writeUser(made, baseOf(call.request, edge)));
    },
  }),
  get("getScimUser", `${SCIM_PATH}/Users/:id`, {
    ...{ ...usual, summary: "One user", parameters: chosen, response: UserResource },
    async handle({ request }, edge) {
      const { rows } = await edge.scim.users(tokenOf(request), { id: resourceIdOf(request) }, rangeOf(request));
      return chosenOf(request)(writeUser(found(rows), baseOf(request, edge)));
    },
  }),
  put("replaceScimUser", `${SCIM_PATH}/Users/:id`, {
    ...{ ...usual, summary: "Replace a user; inactive, they lose keys, sessions and tokens at once" },
    ...{ body: UserResource, example: EXAMPLE, response: UserResource, errors: [409] },
    handle: (call, edge) => changeUser(call, edge, (body, current) => readUser(body, current)),
  }),
  patch("patchScimUser", `${SCIM_PATH}/Users/:id`, {
    ...{ ...usual, summary: "Change a user; inactive, they lose keys, sessions and tokens at once" },
    ...{ body: PatchBody, example: DEACTIVATION, response: UserResource, errors: [409] },
    handle: (call, edge) =>
      changeUser(call, edge, (body, current) => readUser(patched(editableUser(current), body), current)),
  }),
  del("deleteScimUser", `${SCIM_PATH}/Users/:id`, {
    ...{ ...usual, summary: "Delete a user, who loses keys, sessions and tokens at once", errors: [409] },
    handle: ({ request }, { scim }) => scim.deleteUser(tokenOf(request), resourceIdOf(request)),
  }),
];

const GROUPS: readonly ApiRoute[] = [
  get("listScimGroups", `${SCIM_PATH}/Groups`, {
    ...{ ...usual, summary: "The groups of the identity provider", parameters: search, response: ListBody },
    async handle({ request }, edge) {
      const [range, pick] = [rangeOf(request), chosenOf(request)];
      const groups = await edge.scim.groups(tokenOf(request), searchOf(request), range);
      return listOf(groups, range, (each) => pick(writeGroup(each, baseOf(request, edge))));
    },
  }),
  post("createScimGroup", `${SCIM_PATH}/Groups`, {
    ...{ ...usual, summary: "Create a group; its members get what rules of identity providers give it" },
    ...{ body: GroupResource, example: { displayName: "Engineering" }, status: 201, response: GroupResource },
    errors: [409],
    async handle(call, edge) {
      const made = await edge.scim.createGroup(tokenOf(call.request), readGroup(call.body()));
      return located(call, writeGroup(made, baseOf(call.request, edge)));
    },
  }),
  get("getScimGroup", `${SCIM_PATH}/Groups/:id`, {
    ...{ ...usual, summary: "One group", parameters: chosen, response: GroupResource },
    async handle({ request }, edge) {
      const { rows } = await edge.scim.groups(tokenOf(request), { id: resourceIdOf(request) }, rangeOf(request));
      return chosenOf(request)(writeGroup(found(rows), baseOf(request, edge)));
    },
  }),
  put("replaceScimGroup", `${SCIM_PATH}/Groups/:id`, {
    ...{ ...usual, summary: "Replace a group and its members", body: GroupResource, response: GroupResource },
    ...{ example: { displayName: "Engineering" }, errors: [409] },
    handle: (call, edge) => changeGroup(call, edge, readGroup),
  }),
  patch("patchScimGroup", `${SCIM_PATH}/Groups/:id`, {
    ...{ ...usual, summary: "Rename a group, or add and remove members", body: PatchBody, errors: [409] },
    example: { Operations: [{ op: "add", path: "members", value: [{ value: "user_0" }] }] },
    // Without the group: its list of members may be long.
    async handle(call, edge) {
      await changeGroup(call, edge, (body, current) => readGroup(patched(editableGroup(current), body)));
    },
  }),
  del("deleteScimGroup", `${SCIM_PATH}/Groups/:id`, {
    ...{ ...usual, summary: "Delete a group; its members lose what it gave", errors: [409] },
    handle: ({ request }, { scim }) => scim.deleteGroup(tokenOf(request), resourceIdOf(request)),
  }),
];

const DESCRIPTIONS: readonly ApiRoute[] = [
  get("getScimConfig", `${SCIM_PATH}/ServiceProviderConfig`, {
    ...{ ...usual, summary: "What this SCIM service can do", response: Described },
    handle: () => SERVICE_PROVIDER_CONFIG,
  }),
  get("listScimResourceTypes", `${SCIM_PATH}/ResourceTypes`, {
    ...{ ...usual, summary: "Users and groups", response: ListBody, handle: () => whole(RESOURCE_TYPES) },
  }),
  get("listScimSchemas", `${SCIM_PATH}/Schemas`, {
    ...{ ...usual, summary: "Attributes of users and groups", response: ListBody, handle: () => whole(SCHEMAS) },
  }),
];

export const SCIM_ROUTES: readonly ApiRoute[] = [...DESCRIPTIONS, ...USERS, ...GROUPS];

function whole(rows: readonly JsonMap[]) {
  return listOf({ total: rows.length, rows }, { offset: 0, limit: rows.length }, (row) => row);
}

function changeUser(
  { request, body }: ApiCall,
  edge: OperatorContext,
  read: (body: JsonMap, current: ScimUser) => ReturnType<typeof readUser>,
): Promise<JsonMap> {
  const given = body() as JsonMap;
  return edge.scim
    .changeUser(tokenOf(request), resourceIdOf(request), (current) => read(given, current))
    .then((changed) => writeUser(changed, baseOf(request, edge)));
}

function changeGroup(
  { request, body }: ApiCall,
  edge: OperatorContext,
  read: (body: JsonMap, current: ScimGroup) => ReturnType<typeof readGroup>,
): Promise<JsonMap> {
  const given = body() as JsonMap;
  return edge.scim
    .changeGroup(tokenOf(request), resourceIdOf(request), (current) => read(given, current))
    .then((changed) => writeGroup(changed, baseOf(request, edge)));
}

function found<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new GatewayError("notFound", TEXT.noResource);
  return row;
}

function located({ reply }: ApiCall, made: JsonMap): JsonMap {
  reply.header("location", String((made.meta as JsonMap).location));
  return made;
}
