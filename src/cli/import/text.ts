// Sentences of `switchyard import`.

import { command } from "../../config/package.ts";

export const needsFile = "import litellm needs the path of a LiteLLM configuration, or - for standard input.";
export const unreadable = (path: string, reason: string) => `${path} cannot be read: ${reason}.`;
export const notYaml = (reason: string) => `The file is not valid YAML: ${reason}`;
export const notLitellm = "The file has neither model_list nor litellm_settings, so it is no configuration of LiteLLM.";
export const exists = (path: string) =>
  `${path} exists, and nothing was written. Choose another file with --out, or add --force: the old file is then kept beside it.\n`;
export const written = (path: string, kept: string | null) =>
  `Wrote ${path}.${kept === null ? "" : ` The old file is ${kept}.`}\n`;
export const title = (source: string) => `Imported from ${source}.`;
export const commentsOf = (source: string) => `Comments of ${source}:`;
export const mapped = (count: number) => `Taken over (${count}):\n`;
export const unmapped = (count: number) => `Not taken over (${count}):\n`;
export const look = "Look at:\n";
export const variables = (names: string) => `The configuration reads ${names} from the environment.\n`;
export const nothing = "Nothing was found to import.\n";
export const noVariables = (names: string) =>
  `No key of a provider is in the environment. Set one of ${names}, and try again.\n`;
export const check = (call: string) => `Check it without a request: ${call}\n`;

// What was found in a LiteLLM configuration.
export const group = (id: string, hosts: string) => `${id}: served by ${hosts}`;
export const inCatalogue = (id: string) => `${id}: a model of the catalogue`;
export const wholeProvider = (name: string, id: string) => `${name}: all models of ${id} that the catalogue has`;
export const option = (from: string, to: string) => `${from}: ${to}`;
export const noProvider = (prefix: string) => `no provider of Switchyard serves '${prefix}'`;
export const noAddress = "it has no api_base";
export const noRegion = "it has no region";
export const noName = "it has no model_name and litellm_params.model";
export const everyModel = "the catalogue serves every model of providers that have a key";
export const literalKey = (place: string, variable: string) =>
  `${place} is a key in plain text. It was not copied: set ${variable}`;
export const noPrice = (id: string) =>
  `${id} has no price for input and output in the file or in the catalogue, and is not used until you add one`;
export const ownPrice = (id: string) =>
  `${id} runs on your own server and costs nothing here; set its price if it does`;
export const direct = (profile: string, key: string) =>
  `A named model counts only for a key that honours it: ${profile}, then ${key}`;
export const severalHosts = (ids: string) =>
  `${ids}: deployments are tried in the order of routing.hostOrder, where LiteLLM picks one at random`;
export const fallbackChain = (tier: string, ids: string) => `fallbacks: the chain of ${tier} is ${ids}`;
export const fallbackNamed = "another model does not stand in for one that was named; auto falls back along the chains";
export const notKnown = "Switchyard has no such setting";
export const masterKey = `The master key is the token of /api alone. Programs get API keys of their own: ${command("keys create")}`;
export const ownDatabase =
  "both read DATABASE_URL, and each needs a database of its own. SQLite is the default; keys and spends cannot be moved";
export const budget = (amount: string, period: string) =>
  `a budget lives in the database: POST /api/budgets {"name": "LiteLLM", "scope": "account", "amountUsd": "${amount}", "period": "${period}"}`;
