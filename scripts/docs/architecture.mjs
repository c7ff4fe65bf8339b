// @ts-check
// Renders the layers and the folders of docs/contribute/architecture.md.
// The words about a folder stand here and not in the folders, so that all of them are read and edited together.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { LAYERS } from "../layers.mjs";
import { tableOf } from "../setup/generated.mjs";

const PATH = "docs/contribute/architecture.md";

/**
 * Every folder of src/ and ui/, in two short sentences at most.
 * @type {Readonly<Record<string, string>>}
 */
const FOLDERS = {
  "src/accounts": "Accounts, keys, profiles, users and logins.",
  "src/accounts/budgets": "Budgets.",
  "src/accounts/identity": "Identity providers.",
  "src/alerting": "Watches for events and sends them.",
  "src/accounts/limits": "Rate limits, in one process or shared.",
  "src/app": "Wiring, with `start()` and `stop()`.",
  "src/app/alerts": "Sources of events.",
  "src/billing": "The double-entry ledger: holds, charges, top-ups.",
  "src/catalog": "Models, prices, tiers and providers that ship, as checked data.",
  "src/catalog/file": "The catalogue as a signed file.",
  "src/catalog/prices": "Reads price feeds exactly, and judges what they say.",
  "src/cli": "The commands of `switchyard`, one file each.",
  "src/cli/access": "Users and login.",
  "src/cli/catalogue": "Catalogue files.",
  "src/cli/command": "What all commands share: arguments, terminal, tables.",
  "src/cli/demo": "Stores of `serve --demo`.",
  "src/cli/doctor": "Checks of `switchyard doctor`.",
  "src/cli/help": "Help pages, also in `docs/reference/cli.md`.",
  "src/cli/import": "`switchyard import`.",
  "src/cli/state": "`switchyard apply`.",
  "src/cli/run": "`switchyard run`.",
  "src/config": "File, environment and options become checked settings.",
  "src/config/options": "One table row per setting.",
  "src/core/alerts": "Events.",
  "src/core": "Shared types. Its ports connect the services.",
  "src/core/audit": "Files and audit.",
  "src/core/batches": "Files and batches.",
  "src/core/budgets": "Budgets.",
  "src/core/processes": "What processes share.",
  "src/core/requests": "Controls of a request; the log's records and filters.",
  "src/core/search": "Searches.",
  "src/core/responses": "Stored responses and conversations.",
  "src/demo": "Generated traffic for `switchyard demo`.",
  "src/demo/site": "The public demo.",
  "src/formats": "The contract of a wire format.",
  "src/formats/anthropic": "Anthropic Messages, at both ends.",
  "src/formats/anthropic/from-chat": "Chat-completions to Messages.",
  "src/formats/anthropic/to-chat": "Messages to chat-completions.",
  "src/formats/checks": "Checks of answers.",
  "src/formats/convert": "What conversions share.",
  "src/formats/converse": "Bedrock's Converse.",
  "src/formats/endpoints": "Embeddings, rerank and moderations.",
  "src/formats/gemini": "Google's Gemini format, at both ends.",
  "src/formats/gemini/from-chat": "Chat-completions to Gemini.",
  "src/formats/gemini/read": "Reads requests and answers.",
  "src/formats/gemini/to-chat": "Gemini's requests to chat-completions.",
  "src/formats/json": "Reads and splices JSON bodies.",
  "src/formats/media": "Images and sound.",
  "src/formats/realtime": "Realtime.",
  "src/formats/openai-chat": "OpenAI chat-completions, also the internal shape.",
  "src/formats/openai-responses": "OpenAI's Responses.",
  "src/formats/openai-responses/from-chat": "Chat-completions to Responses.",
  "src/formats/openai-responses/to-chat": "Responses to chat-completions.",
  "src/formats/openai-completions": "OpenAI's legacy completions.",
  "src/formats/openai-responses/stored": "Stored responses.",
  "src/formats/provider": "What the providers' ends share.",
  "src/formats/scan": "Finds fields and long texts in bytes of JSON.",
  "src/formats/service": "Our own wire names, and model lists.",
  "src/formats/sse": "Server-sent events.",
  "src/formats/tools": "Tool ids, names and results.",
  "src/gateway": "One request from admission to settlement. Start reading at `complete.ts`.",
  "src/gateway/batches": "Files and batches.",
  "src/gateway/cascade": "Cascades.",
  "src/gateway/search": "Web searches.",
  "src/gateway/attempt": "Walks the chain.",
  "src/gateway/shadow": "Shadow samples.",
  "src/gateway/sessions": "Sessions: their memory, shared and kept.",
  "src/gateway/state": "Stored responses and background runs.",
  "src/gateway/operate": "Tools of operators.",
  "src/gateway/realtime": "Realtime.",
  "src/http": "The server, context of routes, health endpoints.",
  "src/http/api": "The dashboard API, one file per resource.",
  "src/http/api/alerts": "Events and targets.",
  "src/http/api/audit": "The audit log.",
  "src/http/api/configuration": "Run-time configuration.",
  "src/http/api/people": "Users and sign-in.",
  "src/http/api/scim": "SCIM.",
  "src/http/api/requests": "The request log: list, export, histogram, live events.",
  "src/http/exchange": "One HTTP exchange: ids, bodies, errors, disconnects, streams, identity.",
  "src/http/openapi": "The HTTP contract.",
  "src/http/overload": "Admission, queue and flood detection.",
  "src/http/pages": "The dashboard's files, `/docs` and `/llms.txt`.",
  "src/http/realtime-sessions": "Realtime.",
  "src/http/sockets": "WebSockets.",
  "src/http/v1": "The public endpoints, and the record of each call.",
  "src/http/v1/chat": "Stored chat completions.",
  "src/http/v1/batches": "Files and batches.",
  "src/http/v1/realtime": "Secrets.",
  "src/http/v1/responses": "Stored responses, background, conversations and compaction.",
  "src/providers": "Connections, health, breakers, sandbox.",
  "src/providers/search": "Search providers.",
  "src/providers/auth": "Keys, signatures, renewed tokens.",
  "src/providers/local": "Finds local model servers.",
  "src/providers/sources": "Gets price feeds and catalogue files.",
  "src/routing": "From a prompt to a tier and a chain of models.",
  "src/routing/classifier": "Signals, rules and a small network: tier and category.",
  "src/routing/sessions": "Cached prefixes, stay or switch, evidence of failure.",
  "src/routing/tools": "Tool scenarios and function-calling scores.",
  "src/store": "SQL for SQLite and PostgreSQL, migrations, transactions.",
  "src/store/alerts": "Tables of events.",
  "src/store/audit": "The audit log.",
  "src/store/batches": "Tables of files and batches, sealed.",
  "src/store/backup": "Backup and restore of both databases.",
  "src/store/accounts": "Tables of accounts, keys, profiles and users.",
  "src/store/ledger": "Tables of holds, entries and charges.",
  "src/store/migrations": "SQL files, applied in order at start.",
  "src/store/postgres": "The PostgreSQL driver and change notifications.",
  "src/store/rate-windows": "Shared rate-limit windows in the database or Redis.",
  "src/store/responses": "Tables of stored responses and conversations, sealed.",
  "src/store/secret": "The secret of an installation, and sealing.",
  "src/store/requests": "Tables of the request log and its totals.",
  "src/store/sqlite": "SQLite in its own thread, with group commit.",
  "src/store/versions": "Versions of the run-time configuration.",
  "src/telemetry": "Log, metrics, traces and request records.",
  "src/telemetry/otlp": "Exports by OTLP.",
  "src/versions": "The run-time configuration, with sealed secrets.",
  "src/workers": "Worker processes.",
  ui: "The dashboard: entry, router, API client and session.",
  "ui/charts": "Charts as SVG, each with a table.",
  "ui/kit": "Buttons, dialogs, fields.",
  "ui/pages": "One folder per page.",
  "ui/pages/alerts": "Alerts.",
  "ui/pages/budgets": "Budgets.",
  "ui/pages/audit": "The audit log.",
  "ui/pages/credits": "Balance, top-ups and ledger.",
  "ui/pages/explore": "Any metric by any dimension.",
  "ui/pages/keys": "API keys.",
  "ui/pages/members": "Members.",
  "ui/pages/models": "Models and comparison.",
  "ui/pages/not-found": "Unknown address.",
  "ui/pages/outcomes": "Outcomes.",
  "ui/pages/overview": "Spend, savings, traffic and latency.",
  "ui/pages/playground": "Try a prompt and see its decision.",
  "ui/pages/profiles": "Routing profiles with replay.",
  "ui/pages/providers": "Providers.",
  "ui/pages/requests": "The request log.",
  "ui/pages/sessions": "Conversations.",
  "ui/pages/settings": "Settings and users.",
  "ui/pages/sign-in": "Sign-in and set-up.",
  "ui/pages/teams": "Teams.",
  "ui/parts": "Shared parts.",
  "ui/parts/configuration": "Options and history.",
  "ui/parts/connect": "Connects providers.",
  "ui/parts/people": "Teams and members.",
  "ui/public": "Static files.",
  "ui/styles": "Style sheets.",
};

export function render(/** @type {string} */ root) {
  const folders = ["src", "ui"].flatMap((top) => foldersBelow(root, top)).filter((folder) => folder !== "src");
  complain(
    "has no line in FOLDERS",
    folders.filter((folder) => !Object.hasOwn(FOLDERS, folder)),
  );
  complain(
    "has a line in FOLDERS but does not exist",
    Object.keys(FOLDERS).filter((folder) => !existsSync(join(root, folder))),
  );
  return [
    { path: PATH, block: "layers", text: layerTable() },
    { path: PATH, block: "folders", text: folderTable(folders) },
  ];
}

function complain(/** @type {string} */ problem, /** @type {readonly string[]} */ folders) {
  if (folders.length > 0) throw new Error(`${folders.join(", ")} ${problem} (scripts/docs/architecture.mjs)`);
}

/** @returns {string[]} */
function foldersBelow(/** @type {string} */ root, /** @type {string} */ folder) {
  const children = readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = children.map((entry) => entry.name).sort();
  return [folder, ...names.flatMap((name) => foldersBelow(root, `${folder}/${name}`))];
}

function layerTable() {
  const rows = LAYERS.map(({ name, about, folders }) => {
    const places = folders.map(({ folder }) => `\`${folder}/\``);
    const where = name === "process" ? ["`main.ts`", ...places] : places;
    return [name, where.join(", "), about];
  });
  return tableOf(["layer", "folders", "what it does"], rows);
}

function folderTable(/** @type {readonly string[]} */ folders) {
  const rows = folders.map((folder) => [`\`${folder}/\``, FOLDERS[folder]]);
  return tableOf(["folder", "what it holds"], rows);
}
