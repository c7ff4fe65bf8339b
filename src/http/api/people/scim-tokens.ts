// /api/scim-tokens: tokens with which an identity provider manages the people of an organisation.

import { Type } from "typebox";
import { shownName } from "../../../core/names.ts";
import type { ScimToken } from "../../../core/people.ts";
import { publicOrigin } from "../../exchange/hosts.ts";
import { ownAccountOf } from "../../exchange/identity.ts";
import { AnyText, Name, named, nullable, page, type Shape, strict, Time } from "../../openapi/schema.ts";
import { accountOf, idOf, isoTime, listPage, missing, pageOf, paging } from "../exchange.ts";
import { type ApiRoute, del, get, post } from "../route.ts";
import { SCIM_PATH } from "../scim/exchange.ts";

const fields = {
  id: AnyText,
  name: AnyText,
  reachesOperators: Type.Boolean({ description: "True for a token that an operator made for the account `default`." }),
  createdAt: Time,
  lastUsedAt: nullable(Time),
};
const ScimTokenSchema = named("ScimToken", fields);
/** The token is in this response only; the store keeps its hash. */
const CreatedScimTokenSchema = named("CreatedScimToken", { ...fields, token: AnyText, url: AnyText });
const NewScimTokenSchema = strict("NewScimToken", { name: Name });

export const SCIM_TOKEN_ROUTES: readonly ApiRoute[] = [
  post("createScimToken", "/api/scim-tokens", {
    summary: "Create a token for the identity provider of the organisation; it is shown once",
    access: "manage",
    body: NewScimTokenSchema,
    example: { name: "Okta" },
    status: 201,
    response: CreatedScimTokenSchema,
    async handle({ request, body }, edge) {
      const { name } = body();
      const accountId = await accountOf(request, edge);
      const reachesOperators = ownAccountOf(request) === null;
      const { token, text } = await edge.scimTokens.create({ accountId, name, reachesOperators });
      return { ...writeToken(token), token: text, url: `${publicOrigin(request, edge.settings.server)}${SCIM_PATH}` };
    },
  }),
  get("listScimTokens", "/api/scim-tokens", {
    summary: "Tokens of the organisation's identity provider",
    access: "manage",
    parameters: paging,
    response: page(ScimTokenSchema),
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      return listPage(pageOf(request), (each) => edge.scimTokens.list(accountId, each), writeToken);
    },
  }),
  del("revokeScimToken", "/api/scim-tokens/:id", {
    summary: "Revoke a token of an identity provider",
    access: "manage",
    async handle({ request }, edge) {
      const id = idOf(request, "token");
      if (!(await edge.scimTokens.revoke(await accountOf(request, edge), id))) throw missing("token", id);
    },
  }),
];

/** Also written by the command line, which prints the same JSON. */
export function writeToken(token: ScimToken): Shape<typeof ScimTokenSchema> {
  const { id, name, reachesOperators, createdAtMs, lastUsedAtMs } = token;
  return {
    ...{ id, name: shownName(name), reachesOperators },
    ...{ createdAt: isoTime(createdAtMs), lastUsedAt: isoTime(lastUsedAtMs) },
  };
}
