// Changes of single providers, models, chains and routing rules. Each becomes a version of the run-time configuration,
// checked as a whole like the file. For operators.

import type { FastifyRequest } from "fastify";
import { type TProperties, Type } from "typebox";
import { isRoutable } from "../../../catalog/catalog.ts";
import { TIERS_WITH_TOOLS } from "../../../catalog/chains.ts";
import { GatewayError } from "../../../core/errors.ts";
import type { Json, JsonMap } from "../../../core/overlay.ts";
import { TIERS } from "../../../core/tiers.ts";
import { invalid } from "../../../formats/json/fields.ts";
import { newModelId } from "../../../versions/adoption.ts";
import { drafted, entryAt, patched, withEntry, withoutProvider } from "../../../versions/document.ts";
import type { OperatorContext } from "../../context.ts";
import { query } from "../../openapi/operation.ts";
import { named } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { missing, oneOf, queryOf } from "../exchange.ts";
import { type ApiRoute, del, patch, post, put } from "../route.ts";
import {
  authorOf,
  documentOf,
  entryOf,
  ifMatch,
  PublishedSchema,
  publicationFields,
  publisherOf,
  writePublished,
} from "./exchange.ts";

/** Checked with everything else, by the rules of the file: all problems are reported at once. */
const AsInFile = (description: string) => Type.Optional(Type.Unsafe<unknown>({ description }));

const providerFields = {
  kind: AsInFile("Such as openai, anthropic or gemini; not needed for a built-in provider."),
  baseUrl: AsInFile("The address; not needed for a built-in provider."),
  apiKey: AsInFile("The key as text. It is stored encrypted and never returned."),
  apiKeys: AsInFile(
    'Several keys: texts, or objects with `key` and `weight`; weight 0 switches a key off. The `id` that a GET showed keeps a stored key, as in `{"id": "5f0c9a3e"}`.',
  ),
  apiVersion: AsInFile("Azure: sent as `api-version`."),
  deployments: AsInFile("Azure: names of deployments by the ids of their models."),
  headers: AsInFile("Extra headers; their values are stored like keys."),
  region: AsInFile("Clouds: the region that is called."),
  signIn: AsInFile("Clouds: settings of the sign-in, without secrets."),
  regions: AsInFile("All places where it answers, such as eu, de or eu-central-1."),
  zeroRetention: AsInFile("True if the provider keeps no content of your requests."),
  timeouts: AsInFile("connectMs, firstByteMs, idleMs and totalMs."),
};
const modelFields = {
  provider: AsInFile("The provider that serves it."),
  upstream: AsInFile("The name that the provider knows."),
  hosts: AsInFile("Several hosts, each with what differs."),
  price: AsInFile("input, output, cacheRead and cacheWrite in USD per million tokens."),
  context: AsInFile("Its context window in tokens."),
  maxOutput: AsInFile("Its longest answer in tokens."),
  capabilities: AsInFile("Such as tools, vision, json and reasoning."),
};
const { provider: _, hosts: __, ...servedFields } = modelFields;
/** Models of a new provider alone: from then on, models are entries of their own. */
const ServedModels = Type.Optional(
  Type.Array(
    Type.Object({
      ...servedFields,
      upstream: Type.String({ minLength: 1, maxLength: 200, description: "The name that the provider knows." }),
      id: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: "Left out, its own name." })),
    }),
    { maxItems: 500, description: "Models that it serves, added in the same version." },
  ),
);
const ID_TEXT = Type.String({ minLength: 1, maxLength: 200 });

/** One kind of entry: its section of the document, and what it is called. */
interface EntryKind {
  readonly section: "providers" | "models";
  readonly noun: "provider" | "model";
  readonly fields: TProperties;
  /** Fields of a new one alone. */
  readonly added: TProperties;
  readonly example: object;
  isKnown(edge: OperatorContext, id: string): boolean;
}

const KINDS: readonly EntryKind[] = [
  {
    section: "providers",
    noun: "provider",
    fields: providerFields,
    added: { models: ServedModels },
    example: { kind: "openai", baseUrl: "http://127.0.0.1:8000/v1", apiKey: "sk-lab-0123456789" },
    isKnown: (edge, id) => edge.services().catalog.providers.has(id),
  },
  {
    section: "models",
    noun: "model",
    fields: modelFields,
    added: {},
    example: { provider: "lab", upstream: "qwen3-8b", price: { input: 0.1, output: 0.3 } },
    isKnown: (edge, id) => edge.services().catalog.models.has(id),
  },
];

/** Model ids hold slashes and colons, which a path carries encoded. */
const ENTRY_ID = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$/;

function entryIdOf(request: FastifyRequest, noun: string): string {
  const { id = "" } = request.params as { id?: string };
  if (ENTRY_ID.test(id)) return id;
  throw missing(noun, id);
}

/** Statuses of every change: another came first or the file has it, and the document does not pass the checks. */
const errors = [409, 422];

function routesOf({ section, noun, fields, added, example, isKnown }: EntryKind): readonly ApiRoute[] {
  const name = noun === "provider" ? "Provider" : "Model";
  const common = { access: "operator", parameters: [ifMatch], errors, response: PublishedSchema } as const;
  return [
    post(`add${name}`, `/api/${section}`, {
      ...common,
      summary: `Add a ${noun} at run time: a new version of the configuration`,
      status: 201,
      body: named(`New${name}`, { id: ID_TEXT, ...fields, ...added, ...publicationFields }),
      example: { id: noun === "provider" ? "lab" : "lab-small", ...example },
      async handle({ request, body }, edge) {
        const given = body();
        const { id, models = [] } = given as { readonly id: string; readonly models?: readonly ServedModel[] };
        const entry = section === "models" ? { id, ...entryOf(given, "id") } : entryOf(given, "id", "models");
        const published = await edge.versions.publish({
          ...publisherOf(request, given),
          change(document) {
            if (entryAt(document, section, id) !== undefined) throw exists(noun, id);
            return withServed(withEntry(document, section, id, entry), id, { models, edge });
          },
        });
        return writePublished(published);
      },
    }),
    patch(`change${name}`, `/api/${section}/:id`, {
      ...common,
      summary: `Change fields of a ${noun} at run time; null takes a field out`,
      body: named(`Changed${name}`, { ...fields, ...publicationFields }),
      example,
      async handle({ request, body }, edge) {
        const id = entryIdOf(request, noun);
        const given = body();
        const fieldsOf = (known: JsonMap): JsonMap => ({ ...known, ...(section === "models" ? { id } : {}) });
        const published = await edge.versions.publish({
          ...publisherOf(request, given),
          change(document) {
            const known = entryAt(document, section, id);
            if (known === undefined && !isKnown(edge, id)) throw missing(noun, id);
            return withEntry(document, section, id, fieldsOf(patched(known, entryOf(given, "id")) as JsonMap));
          },
        });
        return writePublished(published);
      },
    }),
    removal({ section, noun, isKnown }),
  ];
}

interface ServedModel {
  readonly upstream: string;
  readonly id?: string;
}

interface NewModels {
  readonly models: readonly ServedModel[];
  readonly edge: OperatorContext;
}

/** With the models of a new provider. Without an id, a model gets one that is free. */
function withServed(document: JsonMap, provider: string, { models, edge }: NewModels): JsonMap {
  const taken = new Set([...edge.services().catalog.models.keys()]);
  let next = document;
  for (const [index, model] of models.entries()) {
    const id = model.id ?? newModelId(model.upstream, provider, { models: taken });
    if (taken.has(id)) {
      const message = TEXT.modelExists(id);
      throw new GatewayError("conflict", message, { param: `models[${index}].id` });
    }
    taken.add(id);
    next = withEntry(next, "models", id, { ...documentOf(model), id, provider });
  }
  return next;
}

/** Choices for models that only the removed provider serves. A model without any provider is refused. */
const KEPT = ["keep", "remove"] as const;
const modelsToo = query(
  "models",
  Type.Enum([...KEPT]),
  "`remove` also removes the run-time models that it alone serves. Their places in chains go too, unless a model that ships takes them.",
);

function removal({ section, noun, isKnown }: Pick<EntryKind, "section" | "noun" | "isKnown">): ApiRoute {
  return del(`remove${noun === "provider" ? "Provider" : "Model"}`, `/api/${section}/:id`, {
    summary: `Remove what was set of a ${noun} at run time; what ships or stands in the file stays`,
    access: "operator",
    parameters: section === "providers" ? [ifMatch, modelsToo] : [ifMatch],
    errors,
    response: PublishedSchema,
    async handle({ request }, edge) {
      const id = entryIdOf(request, noun);
      const models = section === "providers" ? oneOf("models", queryOf(request, "models") ?? "keep", KEPT) : "keep";
      const removed = (document: JsonMap, back: ReadonlySet<Json>): JsonMap => {
        if (entryAt(document, section, id) !== undefined)
          return models === "keep" ? withEntry(document, section, id, null) : withoutProvider(document, id, back);
        throw isKnown(edge, id) ? notRunTime(edge, section, id) : missing(noun, id);
      };
      const back = models === "keep" ? NONE : await routableIn((document) => removed(document, NONE), request, edge);
      const change = (document: JsonMap): JsonMap => removed(document, back);
      return writePublished(await edge.versions.publish({ ...publisherOf(request, {}), change }));
    },
  });
}

const NONE: ReadonlySet<Json> = new Set();

/** Models that requests could be routed to. A shipped model is among them when the row that replaced it is gone. */
async function routableIn(
  change: (document: JsonMap) => JsonMap,
  request: FastifyRequest,
  { versions }: OperatorContext,
): Promise<ReadonlySet<Json>> {
  const { catalog } = await versions.draft(change, authorOf(request));
  return new Set([...catalog.models.values()].filter((model) => isRoutable(catalog, model)).map(({ id }) => id));
}

function exists(noun: string, id: string): GatewayError {
  return new GatewayError("conflict", TEXT.entryExists(noun, id), { param: "id" });
}

function notRunTime({ versions }: OperatorContext, section: string, id: string): GatewayError {
  const lock = versions.locks.find(({ path }) => `${path}.`.startsWith(`${section}.${id}.`));
  const message = lock === undefined ? TEXT.notChanged(id) : TEXT.setElsewhere(id, lock.place);
  return new GatewayError("conflict", message, { code: "locked", param: "id" });
}

/** A tier without a chain for tools needs a way to say so. */
const chainsWithAtLeast = (minItems: 0 | 1, description: string) => {
  const list = Type.Array(Type.String(), minItems === 0 ? {} : { minItems });
  const chain = Type.Optional(Type.Union([list, Type.Null()]));
  const tiers = Object.fromEntries(TIERS.map((tier) => [tier, chain]));
  return Type.Optional(Type.Object(tiers, { additionalProperties: false, description }));
};

const CHAIN_ROUTES: readonly ApiRoute[] = [
  put("setChains", "/api/chains", {
    summary:
      "Set fallback chains at run time: models in the order they are tried, as id or id@effort; null as it ships",
    access: "operator",
    parameters: [ifMatch],
    errors,
    body: named("Chains", {
      chains: chainsWithAtLeast(1, "Chains by tier. A tier that is set here alone has one chain for all requests."),
      chainsWithTools: chainsWithAtLeast(
        0,
        "Chains for requests with tools, by tier. An empty list leaves the tier with one chain for all requests.",
      ),
      ...publicationFields,
    }),
    example: { chains: { SIMPLE: ["gpt-4o-mini"] }, note: "One model is enough" },
    response: PublishedSchema,
    async handle({ request, body }, { versions }) {
      const given = body();
      if (given.chains === undefined && given.chainsWithTools === undefined) throw invalid("chains", TEXT.noChainGiven);
      const { chains = {}, chainsWithTools = {} } = given as { readonly [name: string]: JsonMap };
      const change = (document: JsonMap): JsonMap =>
        drafted(document, { tiers: chains, [TIERS_WITH_TOOLS]: chainsWithTools });
      return writePublished(await versions.publish({ ...publisherOf(request, given), change }));
    },
  }),
  patch("changeRouting", "/api/routing", {
    summary: "Change routing rules at run time, such as baseline and markup; null takes a rule out",
    access: "operator",
    parameters: [ifMatch],
    errors,
    body: named("RoutingRules", {
      baseline: AsInFile("The model that savings are compared with."),
      markup: AsInFile("What is charged on top of the provider's price, as a fraction of it."),
      unsureTier: AsInFile("A request with an unsure tier is not placed below this one."),
      ...publicationFields,
    }),
    example: { markup: 0.05 },
    response: PublishedSchema,
    async handle({ request, body }, { versions }) {
      const given = body();
      const routing = entryOf(given);
      const change = (document: JsonMap): JsonMap => drafted(document, { routing });
      return writePublished(await versions.publish({ ...publisherOf(request, given), change }));
    },
  }),
];

export const ENTRY_ROUTES: readonly ApiRoute[] = [...KINDS.flatMap(routesOf), ...CHAIN_ROUTES];
