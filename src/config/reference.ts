// The texts of docs/reference/configuration.md and .env.example, rendered from the table of options by `npm run docs`. A test holds
// the files equal to this.

import { DEFAULT_TIMEOUTS, SUPPORTED_KINDS } from "../catalog/build.ts";
import type { Builtin } from "../catalog/builtin.ts";
import { PROVIDER_KINDS } from "../catalog/provider-kinds.ts";
import { CAPABILITIES } from "../core/model.ts";
import { MODEL_DEFAULTS } from "./models.ts";
import type { Option } from "./options/option.ts";
import { optionRows } from "./options/table.ts";

/** The text of docs/reference/configuration.md. */
export function configurationPage(builtin: Builtin): string {
  const providers = [SECRETS, providerTable(builtin), entriesText(), ...uncallableText()];
  const sections = [INTRODUCTION, optionTable(), ...providers, MODELS, FILE_EXAMPLE];
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

Nothing needs to be configured: without any setting the gateway listens on \`http://127.0.0.1:8787\`, keeps its data in \`./data\` and answers from the sandbox.

A setting can stand in four places, weakest first: the default, \`switchyard.yaml\` in the working folder (or the file named by \`--config\` or \`SWITCHYARD_CONFIG\`), the environment, a flag.
Everything that is wrong is reported at once, each with its place and what may have been meant; the process then ends with code 78. An empty variable counts as unset.

In the file, \`\${NAME}\` stands for an environment variable and \`\${NAME:-text}\` gives it a default; \`$\${NAME}\` is the text itself.

## Options`;

const SECRETS = `## Secrets

Each variable that holds a secret (marked in the tables) has a second one with \`_FILE\` at its end, which names a file to read it from. Setting both is an error. Secrets are never shown or logged.

## Providers

Setting the key of a built-in provider switches it on. With no provider at all, the sandbox serves every model of the catalogue with simulated answers.`;

const MODELS = `## Models and tiers

\`models\` adds to the catalogue or replaces the entry with the same id. \`id\` and \`provider\` are required. A model without \`price\` is never routed to; a free one needs zeros. Prices are USD per million tokens and count from \`priceAsOf\`, or from the day the file was changed.
Left out, \`upstream\` is the id, \`context\` ${MODEL_DEFAULTS.context}, \`maxOutput\` ${MODEL_DEFAULTS.maxOutput} and \`capabilities\` none (of ${CAPABILITIES.map((name) => `\`${name}\``).join(", ")}). \`bfcl\` holds function-calling scores in percent. Further keys: \`name\`, \`vendor\`, \`tier\`, \`priceSource\`, \`dialect\`.

\`tiers\` gives the chain of a tier, primary first. A tier that is not written keeps the chain that ships; where none of its models has a configured provider, the priced models that belong to that tier take their place, cheapest first.
A model's own tier is the one it names, else the lowest whose chain lists it, else STANDARD.`;

const FILE_EXAMPLE = `## A file with everything

\`\`\`yaml
server:   { host: 127.0.0.1, port: 8787 }
database: sqlite:./data/switchyard.db
routing:  { baseline: claude-opus-4-8, markup: 0.05 }
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
  NANO: [lab-small, gpt-4.1-nano]
\`\`\``;

function optionTable(): string {
  const head = "| in the file | variable | flag | default | meaning |\n|---|---|---|---|---|";
  return [head, ...optionRows().map(optionLine)].join("\n");
}

function optionLine(row: Option<unknown>): string {
  const variable = row.env === null ? "" : `\`${row.env}\`${row.isSecret ? " (secret)" : ""}`;
  const flag = row.flag === null ? "" : `\`--${row.flag}\``;
  const path = row.path === null ? "" : `\`${row.path}\``;
  return `| ${[path, variable, flag, row.shownDefault, row.help].join(" | ")} |`;
}

function providerTable(builtin: Builtin): string {
  const head = "| provider | key (secret) | address |\n|---|---|---|";
  const lines = builtin.providers.map((row) => `| \`${row.id}\` | \`${row.keyVariable}\` | ${row.baseUrl} |`);
  return [head, ...lines].join("\n");
}

/** How an entry under `providers` is written. */
function entriesText(): string {
  const { isFirstByteConfigured: _, ...timeouts } = DEFAULT_TIMEOUTS;
  const timeoutWords = Object.entries(timeouts).map(([name, ms]) => `\`${name}\` ${ms}`);
  return `An entry under \`providers\` with a built-in name inherits its address and kind. Any other name needs \`kind\` (\`openai\`, \`anthropic\` or \`sandbox\`) and, unless it is the sandbox, \`baseUrl\`.
The environment outweighs a written \`apiKey\`, but a vendor's variable is used only for the vendor's own address. Further keys: \`headers\` (sent with every call), \`allowPrivateNetwork\` (whether the address may lead to a private network: yes where you wrote it, no for a vendor's own; link-local and metadata addresses are never called), \`traceparent\` (whether calls carry the place of the request in our traces; no unless you say so), \`timeouts\` (${timeoutWords.join(", ")}) and \`dialect\`.
A \`dialect\` says how a server differs from plain chat-completions: \`outputCap\` (\`as-sent\`, \`max_tokens\`, \`max_completion_tokens\`), \`refuses\` (fields to leave out), \`renames\`, \`toolIds\` (\`any\`, \`alphanumeric-9\`, \`safe-40\`), \`hasDeveloperRole\`, \`takesMessageNames\`, \`takesStreamOptions\`, \`takesTopK\`, \`takesCacheControl\`, \`efforts\` (values of \`reasoning_effort\` it knows), \`reasoningHistory\` (\`keep\`, \`drop\`, \`tool-turns\`), \`needsThoughtSignatures\`; for \`kind: anthropic\` also \`thinking\` (\`adaptive\`, \`budget\`, \`none\`), \`takesPrefill\`, \`takesSystemInMiddle\`, \`takesOutputFormat\`. A server of your own gets requests unchanged unless you say otherwise.`;
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
