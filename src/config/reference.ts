// The texts of docs/reference/configuration.md and .env.example, rendered from the table of options by `npm run docs`. A test holds
// the files equal to this.

import { DEFAULT_TIMEOUTS, SUPPORTED_KINDS } from "../catalog/build.ts";
import type { Builtin } from "../catalog/builtin.ts";
import { PROVIDER_KINDS } from "../catalog/provider-kinds.ts";
import { CAPABILITIES, ENDPOINTS } from "../core/model.ts";
import { MODEL_DEFAULTS } from "./models.ts";
import type { Option } from "./options/option.ts";
import { optionRows } from "./options/table.ts";

/** The text of docs/reference/configuration.md. */
export function configurationPage(builtin: Builtin): string {
  const providers = [SECRETS, providerTable(builtin), entriesText(), ...uncallableText()];
  const sections = [INTRODUCTION, optionTable(), ...providers, MODELS, IDENTITY, FILE_EXAMPLE, RUN_TIME];
  return `${sections.join("\n\n")}\n`;
}

/** The text of .env.example: every variable, commented out, with its default. */
export function environmentExample(builtin: Builtin): string {
  const lines = [
    "# Every variable the gateway reads. Set what you need in the environment of the process; this file itself is not read.",
    "",
  ];
  for (const row of optionRows()) {
    if (row.env === null) continue;
    lines.push(`# ${row.help} Default: ${row.shownDefault}.`, `#${row.env}=${exampleValue(row)}`);
    if (row.isSecret) lines.push(`#${row.env}_FILE=`);
    lines.push("");
  }
  lines.push("# Keys of providers, under the vendors' own names. Setting one switches its provider on.");
  for (const row of builtin.providers) lines.push(`#${row.keyVariable}=`, `#${row.keyVariable}_FILE=`);
  return `${lines.join("\n")}\n`;
}

const INTRODUCTION = `# Configuration

Switchyard runs without any configuration. It then listens on \`http://127.0.0.1:8787\`, stores its data in \`./data\` and answers from the sandbox.

Settings come from five places, weakest first:

1. the default
2. [changes at run time](#changes-at-run-time): providers, models, chains, and the options that say so below
3. \`switchyard.yaml\` in the working folder, or the file named by \`--config\` or \`SWITCHYARD_CONFIG\`
4. the environment; an empty variable counts as unset
5. a flag

All configuration errors are reported together, with location and suggestion. The exit code is 78.

In the file, \`\${NAME}\` is replaced by an environment variable, and \`\${NAME:-text}\` gives it a default. \`$\${NAME}\` is the literal text.

## Options`;

const SECRETS = `## Secrets

Each variable that is marked as a secret has a \`_FILE\` form that names a file to read it from. Setting both is an error. Secrets are never shown or logged.

## Providers

The key of a built-in provider switches it on. Without any provider, the sandbox serves every model of the catalogue with simulated answers.`;

const MODELS = `## Models and tiers

\`models\` adds to the catalogue, or replaces the entry with the same id.

| key of a model | default | meaning |
|---|---|---|
| \`id\`, \`provider\` | required | its name here, and who serves it |
| \`hosts\` | none | further hosts: each has \`provider\`, and \`upstream\`, \`price\`, \`context\`, \`maxOutput\`, \`capabilities\`, \`region\`, \`dataPolicy\`, \`regions\` and \`zeroRetention\` where they differ. \`dialect\` and \`formats\` belong to one host alone. Without \`provider\`, all hosts are here |
| \`upstream\` | the id | its name at the provider |
| \`price\` | none | USD per million tokens: \`input\`, \`output\`, \`cacheRead\`, \`cacheWrite\`, and what [Prices](prices.md) lists. A model without a price is never routed to, so a free one needs zeros |
| \`tokenizer\` | \`{ factor: 1 }\` | how many tokens it counts for each one that OpenAI's tokenizer counts; estimate, hold and the check of the window use it. \`asOf\` and \`source\` say where that comes from |
| \`retires\` | none | the first day on which the provider has it no more, see [Retirement](models.md#retirement); hosts may have their own |
| \`priceAsOf\`, \`priceSource\` | the day the file was changed | where the price comes from |
| \`context\`, \`maxOutput\` | ${MODEL_DEFAULTS.context}, ${MODEL_DEFAULTS.maxOutput} | limits in tokens |
| \`capabilities\` | none | any of ${CAPABILITIES.map((name) => `\`${name}\``).join(", ")}; or one of ${ENDPOINTS.map((name) => `\`${name}\``).join(", ")} for a model of that endpoint, which is never routed to |
| \`formats\` | all that its provider speaks | the formats in which the provider has the model, for instance \`[openai-responses]\` |
| \`bfcl\` | none | function-calling scores in percent |
| \`tier\` | the lowest tier whose chain lists it, else STANDARD | where it belongs |
| \`provisional\` | none | \`named\` or \`chain\`: marks a model that nobody has proven yet. With \`chain\` it is last in the chain of its tier |
| \`hostOf\` | none | with \`provisional\`: the known model that this is a host of. It is used while that has no other |
| \`name\`, \`vendor\`, \`dialect\` | | how it is shown, and how it differs from its provider's dialect |
| \`regions\`, \`zeroRetention\` | those of the provider | the same for this host alone |
| \`region\`, \`dataPolicy\` | none | where requests are answered and what becomes of their content, in your words; shown with the model |

\`\`\`yaml
models:
  - id: qwen3-8b
    price: { input: 0.1, output: 0.3 }
    hosts:
      - { provider: lab }
      - { provider: team, upstream: qwen, price: { input: 0.2, output: 0.6 } }
\`\`\`

\`tiers\` sets the chain of a tier, first choice first. A tier that is not in the file keeps its built-in chain. If none of a chain's models has a configured provider, the priced models of that tier take their place, cheapest first.

A model may have an effort behind an \`@\`, such as \`gpt-6-luna@low\`. The efforts are \`none\` (also written \`off\`), \`minimal\`, \`low\`, \`medium\`, \`high\`, \`xhigh\` and \`max\`, as far as the model takes them. Requests that name an effort themselves keep theirs.

\`tiersWithTools\` has the same form, for requests with tools. Its order holds, in conversations too, but for models whose calls were observed to fail. A tier that is written in \`tiers\` alone has one chain for all requests. A tier in neither keeps both built-in chains. An empty list in \`tiersWithTools\` leaves the tier with one chain.`;

const IDENTITY = `## Identity providers

\`identityProviders\` is for [single sign-on](../operate/single-sign-on.md). The variables \`SWITCHYARD_OIDC_*\` make the entry \`oidc\`, or outweigh its keys.`;

const FILE_EXAMPLE = `## A file with everything

\`\`\`yaml
server:   { host: 127.0.0.1, port: 8787 }
database: sqlite:./data/switchyard.db
routing:  { baseline: gpt-6.1-sol, markup: 0.05 }
billing:  { mode: prepaid, starterCredits: 5 }
limits:   { requestsPerMinute: 600 }
logging:  { level: info, content: false, retentionDays: 30 }
providers:
  openai: { apiKey: \${OPENAI_API_KEY} }
  lab:
    kind: openai
    baseUrl: http://127.0.0.1:8000/v1
    timeouts: { firstByteMs: 120000 }
catalog: builtin
models:
  - id: lab-small
    provider: lab
    upstream: qwen3-8b
    price: { input: 0.10, output: 0.30, cacheRead: 0.02, cacheWrite: 0.12 }
    context: 128000
    maxOutput: 16384
    capabilities: [tools, json]
    bfcl: { overall: 61.2, single: 70.1 }
tiers:
  NANO: [lab-small, gpt-6-luna@none]
tiersWithTools:
  NANO: [gpt-6-luna@none, lab-small]
\`\`\``;

const RUN_TIME = `## Changes at run time

Providers, models, tiers and the options marked above can change while the gateway runs, through \`/api\`, the command line and the dashboard. They have the keys of the file and pass its checks.

\`\`\`bash
curl -X POST http://127.0.0.1:8787/api/providers -H "Authorization: Bearer $SWITCHYARD_ADMIN_TOKEN" \\
  -H "Content-Type: application/json" -d '{"id": "groq", "apiKey": "gsk_…", "note": "Try Groq"}'
\`\`\`

- Every process serves with a change within five seconds. Running requests finish with what they began with.
- Options: \`PATCH /api/settings\`, the command \`settings set\`, or the page Settings. Their history and a way back are beside them.
- What the file, the environment or a flag sets is locked. \`GET /api/configuration\` lists it with its place.
- Each change is a version with its author, time and note. \`GET /api/versions\` lists them, and \`POST /api/versions/{n}/rollback\` publishes an older one again.
- \`PUT /api/chains\` sets \`chains\` and \`chainsWithTools\`. A tier that is set in \`chains\` alone loses its built-in chain for tools.
- \`POST /api/replay\` shows what a draft would have done to past requests: cost, tiers and models. No provider is called.
- The command \`versions apply changes.yaml\` publishes changes of a file, and with \`--replay\` it replays them instead. \`versions locked\` lists what is locked.
- \`POST /api/providers/{id}/test\` with a \`draft\` tests a key before it is published. For a server of your own it also lists the models.
- \`models\` in \`POST /api/providers\` adds models in the same change, each with \`upstream\` and \`price\`.
- Send \`base\` or \`If-Match\` with the version that you have seen. If somebody else was faster, you get 409 and what changed.
- Keys and header values are stored encrypted with \`SWITCHYARD_SECRET\`, or with \`secret.key\` in the data folder. They are never returned. If the secret is lost, set the keys again.
- Values are taken literally: \`\${NAME}\` is not replaced.

A provider that would leave no model to route to is refused. Add it together with its \`models\`.`;

function optionTable(): string {
  const head = "| in the file | variable | flag | default | run time | meaning |\n|---|---|---|---|---|---|";
  return [head, ...optionRows().map(optionLine)].join("\n");
}

function optionLine(row: Option<unknown>): string {
  const variable = row.env === null ? "" : `\`${row.env}\`${row.isSecret ? " (secret)" : ""}`;
  const flag = row.flag === null ? "" : `\`--${row.flag}\``;
  const path = row.path === null ? "" : `\`${row.path}\``;
  return `| ${[path, variable, flag, row.shownDefault, row.isLive ? "yes" : "", row.help].join(" | ")} |`;
}

function providerTable(builtin: Builtin): string {
  const head = "| provider | key (secret) | address |\n|---|---|---|";
  const lines = builtin.providers.map((row) => `| \`${row.id}\` | \`${row.keyVariable}\` | ${row.baseUrl} |`);
  return [head, ...lines].join("\n");
}

/** Describes the fields of an entry under `providers`. */
function entriesText(): string {
  const { isFirstByteConfigured: _, ...timeouts } = DEFAULT_TIMEOUTS;
  const timeoutWords = Object.entries(timeouts).map(([name, ms]) => `\`${name}\` ${ms}`);
  return `An entry under \`providers\` with a built-in name inherits its address and kind. Any other name needs \`kind\` and \`baseUrl\`. A variable outweighs \`apiKey\` in the file, but a vendor's variable is used only for the vendor's own address. To send it to another \`baseUrl\`, write it there: \`apiKey: \${OPENAI_API_KEY}\`.

| key of a provider | default | meaning |
|---|---|---|
| \`kind\` | of the built-in name | \`openai\` (chat-completions), \`azure\`, \`ollama\`, \`responses\` (OpenAI's Responses API), \`anthropic\`, \`gemini\`, a [cloud](../operate/clouds.md) (\`bedrock\`, \`bedrock-anthropic\`, \`bedrock-converse\`, \`vertex\`, \`vertex-anthropic\`, \`azure-anthropic\`) or \`sandbox\` |
| \`baseUrl\` | of the built-in name; \`http://127.0.0.1:11434\` for \`kind: ollama\` | its address; the sandbox has none |
| \`apiVersion\` | none | \`kind: azure\` only: calls \`/openai/deployments/…\` with this \`api-version\`, instead of \`/openai/v1\` |
| \`deployments\` | as the models are called | \`kind: azure\` and \`azure-anthropic\` only: names of deployments by model, such as \`{ gpt-4.1: prod }\`. The provider then serves these models of the catalogue and no others |
| \`formats\` | of the kind, or of a built-in name at its own address | what it speaks, the usual format first. A server of kind \`openai\` or \`azure\` may speak \`[openai-chat, openai-responses]\` |
| \`apiKey\` | none | its key, best as \`\${NAME}\` |
| \`apiKeys\` | none | several keys instead of one: \`[\${KEY_A}, { key: \${KEY_B}, weight: 2 }]\`. A key gets its weight's share of the conversations, and one with weight 0 is not used. \`id\` names a key in health, log and doctor. \`expires: 2027-01-31\` is the day on which it ends, of which an [event](../operate/events.md#keys-that-end) warns. The vendor's variable is then not used |
| \`headers\` | none | sent with every call |
| \`allowPrivateNetwork\` | yes for an address that you wrote, else no | whether the address may lead to a private network. Link-local and metadata addresses are never called |
| \`traceparent\` | no | whether calls carry a trace id |
| \`batches\` | of a built-in name at its own address | whether batches may be sent on to it: see [Files and batches](files-and-batches.md#batches-of-hosts) |
| \`region\` | for Bedrock, \`AWS_REGION\` | clouds: the region that is called, and part of the address |
| \`signIn\` | none | clouds: how to sign in, without secrets. Bedrock: \`profile\`, \`roleArn\`, \`externalId\`. Vertex: \`project\`, \`credentialsFile\`. Azure: \`method\`, \`tenantId\`, \`clientId\` |
| \`regions\` | unknown | all places where it answers, such as \`[eu]\`, \`[de]\` or \`[eu-central-1]\`. A request that requires regions uses no provider without them |
| \`zeroRetention\` | of a built-in name at its own address | whether it keeps no content of your requests |
| \`timeouts\` | ${timeoutWords.join(", ")} | in milliseconds |
| \`dialect\` | plain | how the server differs from the plain format |

A server of your own gets requests unchanged, unless \`dialect\` says otherwise:

| key of a dialect | values |
|---|---|
| \`outputCap\` | \`as-sent\`, \`max_tokens\`, \`max_completion_tokens\` |
| \`refuses\`, \`renames\` | fields to leave out, and fields to rename |
| \`toolIds\` | \`any\`, \`alphanumeric-9\`, \`safe-40\` |
| \`efforts\` | the values of \`reasoning_effort\` that it knows |
| \`reasoningHistory\` | \`keep\`, \`drop\`, \`tool-turns\` |
| \`hasDeveloperRole\`, \`takesMessageNames\`, \`takesStreamOptions\`, \`takesTopK\`, \`takesCacheControl\`, \`needsThoughtSignatures\` | \`true\` or \`false\` |
| \`thinking\` (\`kind: anthropic\`) | \`adaptive\`, \`budget\`, \`none\` |
| \`thinking\` (\`kind: gemini\`) | \`level\`, \`budget\`, \`none\` |
| \`thinkingOff\` (\`kind: anthropic\`) | \`disabled\`, \`between_tools\`: what switches thinking off |
| \`takesForcedTools\` | \`true\` or \`false\`: whether a tool can be forced |
| \`takesSearchOptions\` | \`true\` or \`false\`: whether \`web_search_options\` of chat completions make it search |
| \`bindsThinking\` (\`kind: anthropic\`) | \`true\` or \`false\`: whether another model or key refuses the thinking of earlier turns |
| \`takesPrefill\` (\`kind: anthropic\`, \`gemini\`) | \`true\` or \`false\` |
| \`takesSystemInMiddle\`, \`takesOutputFormat\` (\`kind: anthropic\`) | \`true\` or \`false\` |
| \`refusesBetas\` (\`kind: anthropic\`) | values of \`anthropic-beta\` that it refuses |
| \`takesFormatWithTools\` (\`kind: gemini\`) | \`true\` or \`false\` |`;
}

/** One sentence for each kind that the file may name but no codec speaks yet. */
function uncallableText(): readonly string[] {
  const kinds = PROVIDER_KINDS.map(({ kind }) => kind).filter((kind) => !SUPPORTED_KINDS.has(kind));
  return kinds.map(
    (kind) =>
      `Providers of kind \`${kind}\` are accepted, but cannot be called in this version: their models are left out of routing with a warning.`,
  );
}

/** A default that can be used as it stands is filled in; one in words is not. */
function exampleValue(row: Option<unknown>): string {
  return row.default === null || Array.isArray(row.default) ? "" : row.shownDefault.replace(/ .*/, "");
}
