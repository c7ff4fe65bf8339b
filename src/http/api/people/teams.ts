// /api/teams: groups of an account's keys and people, with a default profile and bounds for their requests.

import { type Static, Type } from "typebox";
import { findModel } from "../../../catalog/model-names.ts";
import type { Team, TeamChange } from "../../../core/accounts.ts";
import { shownName } from "../../../core/names.ts";
import { TIERS } from "../../../core/tiers.ts";
import { invalid } from "../../../formats/json/fields.ts";
import type { OperatorContext } from "../../context.ts";
import { RequiresSchema, readRequires } from "../../openapi/controls.ts";
import {
  AnyText,
  listed,
  Name,
  named,
  nullable,
  optional,
  page,
  type Shape,
  strict,
  Time,
} from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { accountOf, idOf, isoTime, listPage, missing, pageOf, paging } from "../exchange.ts";
import { type ApiRoute, del, get, patch, post } from "../route.ts";

const teamFields = {
  id: AnyText,
  name: AnyText,
  parent: nullable(Type.String({ description: "The team that it is part of." })),
  profile: nullable(Type.String({ description: "The profile of its keys without one of their own." })),
  allowedModels: nullable(Type.Array(AnyText)),
  tierCeiling: nullable(listed(TIERS)),
  requires: nullable(RequiresSchema),
  createdAt: Time,
};
const TeamSchema = named("Team", teamFields);

const MODELS_MAX = 1_000;
const fields = {
  parent: optional(Type.String({ description: "A team that is part of no other: teams nest once." })),
  profile: optional(Type.String({ description: "A saved profile, for its keys without one of their own." })),
  allowedModels: optional(
    Type.Array(Type.String({ maxLength: 200 }), { maxItems: MODELS_MAX, description: "Only these models." }),
  ),
  tierCeiling: optional(Type.Enum([...TIERS], { description: "No model above this tier." })),
  requires: optional(RequiresSchema),
};
const NewTeamSchema = strict("NewTeam", { name: Name, ...fields });
const TeamChangeSchema = strict("TeamChange", { name: Type.Optional(Name), ...fields }, { minProperties: 1 });
export const ListedTeamSchema = named("ListedTeam", {
  ...teamFields,
  activeKeys: Type.Integer({ description: "How many of its keys work." }),
});

export const TEAM_ROUTES: readonly ApiRoute[] = [
  post("createTeam", "/api/teams", {
    summary: "Create a team; its bounds hold for the requests of its keys, beside those of their profiles",
    access: "manage",
    body: NewTeamSchema,
    example: { name: "search", tierCeiling: "STANDARD" },
    status: 201,
    response: TeamSchema,
    errors: [409],
    async handle({ request, body }, edge) {
      const given = body();
      const unset = { parentId: null, profileId: null, allowedModels: null, tierCeiling: null, requires: null };
      const content = { ...unset, ...toChange(given, edge), name: given.name };
      return writeTeam(await edge.teams.create(await accountOf(request, edge), content));
    },
  }),
  get("listTeams", "/api/teams", {
    summary: "The teams, each with its number of keys",
    access: "readCatalog",
    parameters: paging,
    response: page(ListedTeamSchema),
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      const keys = await edge.teams.countKeys(accountId);
      return listPage(
        pageOf(request),
        (each) => edge.teams.list(accountId, each),
        (team) => ({ ...writeTeam(team), activeKeys: keys.get(team.id) ?? 0 }),
      );
    },
  }),
  get("getTeam", "/api/teams/:id", {
    summary: "One team",
    access: "readCatalog",
    response: TeamSchema,
    async handle({ request }, edge) {
      const id = idOf(request, "team");
      return writeTeam(found(await edge.teams.get(await accountOf(request, edge), id), id));
    },
  }),
  patch("changeTeam", "/api/teams/:id", {
    summary: "Rename, move or bound a team; omitted fields stay, null removes a bound",
    access: "manage",
    body: TeamChangeSchema,
    example: { parent: null, allowedModels: ["gpt-4o-mini"] },
    response: TeamSchema,
    errors: [409],
    async handle({ request, body }, edge) {
      const id = idOf(request, "team");
      const change = toChange(body(), edge);
      return writeTeam(found(await edge.teams.change(await accountOf(request, edge), id, change), id));
    },
  }),
  del("deleteTeam", "/api/teams/:id", {
    summary: "Delete a team without active keys, members or teams inside",
    access: "manage",
    errors: [409],
    async handle({ request }, edge) {
      const id = idOf(request, "team");
      if (!(await edge.teams.delete(await accountOf(request, edge), id))) throw missing("team", id);
    },
  }),
];

function found(team: Team | null, id: string): Team {
  if (team === null) throw missing("team", id);
  return team;
}

/** Unknown model ids are an error here, because a misspelt one would never match. */
function toChange(body: Static<typeof TeamChangeSchema>, edge: Pick<OperatorContext, "services">): TeamChange {
  const { name, parent, profile, allowedModels, tierCeiling } = body;
  const requires = readRequires(body.requires);
  const { catalog } = edge.services();
  const stranger = allowedModels?.find((model) => findModel(catalog, model) === undefined);
  if (stranger !== undefined) throw invalid("allowedModels", TEXT.unknownModel(stranger));
  return {
    ...(name === undefined ? {} : { name }),
    ...(parent === undefined ? {} : { parentId: parent }),
    ...(profile === undefined ? {} : { profileId: profile }),
    ...(allowedModels === undefined ? {} : { allowedModels }),
    ...(tierCeiling === undefined ? {} : { tierCeiling }),
    ...(requires === undefined ? {} : { requires }),
  };
}

/** Also written by the command line, which prints the same JSON. */
export function writeTeam(team: Team): Shape<typeof TeamSchema> {
  const { id, name, parentId, profileId, allowedModels, tierCeiling, requires, createdAtMs } = team;
  return {
    id,
    name: shownName(name),
    parent: parentId,
    profile: profileId,
    allowedModels,
    tierCeiling,
    requires,
    createdAt: isoTime(createdAtMs),
  };
}
