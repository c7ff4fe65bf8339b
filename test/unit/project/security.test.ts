// Statements of SECURITY.md that the code can hold: what is encrypted for which purpose, who may change providers, what
// the gateway connects to, and that the options it names exist.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { optionRows } from "../../../src/config/options/table.ts";
import { ENTRY_ROUTES } from "../../../src/http/api/configuration/entries.ts";
import { PRICE_ROUTES } from "../../../src/http/api/configuration/prices.ts";
import { VENDOR_ROUTES } from "../../../src/http/api/configuration/vendors.ts";
import { VERSION_ROUTES } from "../../../src/http/api/configuration/versions.ts";
import { DISCOVERY_ROUTES } from "../../../src/http/api/discovery.ts";
import { PROVIDER_ROUTES } from "../../../src/http/api/providers.ts";
import { SETTINGS_ROUTES } from "../../../src/http/api/settings.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PAGE = readFileSync(join(ROOT, "SECURITY.md"), "utf8");
const SOURCES = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, text: readFileSync(join(ROOT, "src", path), "utf8") }));

test("everything that is encrypted is in the table, and nothing else", () => {
  const called = SOURCES.flatMap(({ text }) => [...text.matchAll(/createSealer\([^()]*(?:\([^()]*\))?[^()]*\)/g)]);
  const purposes = new Set(called.flatMap(([call]) => /, "([\w ]+)"\)$/.exec(call)?.[1] ?? []));
  const named = [...PAGE.matchAll(/encrypted \(`([\w ]+)`\)/g)].map(([, name]) => name);
  expect([...purposes].sort()).toEqual(named.sort());
});

test("only operators change providers, models, prices and settings, or look for servers", () => {
  const routes = [
    ...[ENTRY_ROUTES, PRICE_ROUTES, VENDOR_ROUTES, VERSION_ROUTES, DISCOVERY_ROUTES, PROVIDER_ROUTES, SETTINGS_ROUTES],
  ].flat();
  const changing = routes.filter(({ method }) => method !== "get");
  expect(changing.length).toBeGreaterThan(10);
  expect(changing.filter(({ access }) => access !== "operator").map(({ id }) => id)).toEqual([]);
});

/** Files that open a connection, with the row of the table "What leaves the process". */
const CONNECTING = {
  "alerting/http-call.ts": "targets of alerts",
  "alerting/smtp.ts": "targets of alerts",
  "providers/connections.ts": "providers",
  "providers/local/discover.ts": "model servers",
  "providers/cascade-webhook.ts": "webhooks of cascades",
  "providers/search/web-search.ts": "the search provider",
  "providers/search/fetch-page.ts": "pages of the web",
  "providers/auth/token-fetch.ts": "credentials of clouds",
  "providers/sources/source.ts": "price feeds",
  "store/postgres/changes.ts": "PostgreSQL and Redis",
  "store/postgres/postgres.ts": "PostgreSQL and Redis",
  "store/rate-windows/redis.ts": "PostgreSQL and Redis",
  // The doctor looks at the gateway's own port, and whether Redis answers.
  "cli/doctor/machine.ts": "PostgreSQL and Redis",
  "accounts/identity/issuer.ts": "identity providers",
  // `switchyard login` asks the gateway first, on the machine of its user.
  "cli/access/login.ts": "identity providers",
  "cli/state/remote.ts": "the gateway that `switchyard apply` changes",
  "cli/run/gateway.ts": "the gateway that `switchyard run` uses",
  "cli/run/run.ts": "the gateway that `switchyard run` uses",
  "telemetry/otlp/sender.ts": "an OpenTelemetry collector",
};

test("nothing connects to anything that the page does not name", () => {
  const connects =
    /^import (?!type)(?:(?!from).)*\b(?:Agent|Pool|Client|request|connect)\b(?:(?!from).)*from "(?:undici|node:https?|node:net|node:tls)"|^import pg from|import\("(?:pg|ioredis)"\)|(?<![.\w])fetch\(/m;
  const found = SOURCES.filter(({ text }) => connects.test(text)).map(({ path }) => path);
  expect(found.sort()).toEqual(Object.keys(CONNECTING).sort());
  for (const row of new Set(Object.values(CONNECTING))) expect(PAGE).toContain(`\n| ${row}`);
});

test("no secret can be set at run time", () => {
  const secrets = optionRows().filter(({ isSecret }) => isSecret);
  expect(secrets.length).toBeGreaterThan(5);
  expect(secrets.filter(({ isLive }) => isLive).map(({ path }) => path)).toEqual([]);
});

test("the options that the page names exist", () => {
  const named = [...PAGE.matchAll(/`((?:server|limits|logging|prices|responses|alerts|cascade|search)\.\w+)`/g)].map(
    ([, path]) => path,
  );
  const known = new Set(optionRows().map(({ path }) => path));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => !known.has(path as string))).toEqual([]);
});
