// The first screen: where it is, what it uses, the first key, and one command that works as pasted.

import { relative } from "node:path";
import type { App } from "../app/app.ts";
import { readBuiltin } from "../catalog/builtin.ts";
import type { Settings } from "../config/settings.ts";
import { VERSION } from "./help/help.ts";

interface BannerInput {
  readonly app: Pick<App, "url" | "firstKey" | "setupLink">;
  readonly settings: Settings;
  readonly readyMs: number;
  /** Lines under the providers, of whoever has something to add. */
  readonly notes?: readonly string[];
}

export function banner({ app, settings, readyMs, notes = [] }: BannerInput): string {
  const store = storeName(settings.database);
  const key = app.firstKey ?? "$SWITCHYARD_KEY";
  const lines = [
    "",
    `  switchyard ${VERSION}   node ${process.versions.node}   store ${store}   ready in ${Math.round(readyMs)} ms`,
    "",
    `  Base URL    ${app.url}/v1`,
    app.setupLink === null
      ? `  Dashboard   ${app.url}`
      : `  Dashboard   ${app.setupLink}   (one-time link: choose your password)`,
    `  Providers   ${providersLine(settings)}`,
    ...notes,
    app.firstKey === null
      ? "  API key     made at the first start; make another with: npx switchyard keys create --name NAME"
      : `  API key     ${app.firstKey}   (shown this once)`,
    "",
    "  Try it:",
    "",
    `  curl -s ${app.url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `    -d '{"model":"auto","messages":[{"role":"user","content":"What is the capital of France?"}]}'`,
    "",
    "",
  ];
  return lines.join("\n");
}

/** A file is shown as seen from here; an address in the network may hold a password and is not shown. */
function storeName(database: string): string {
  if (!database.startsWith("sqlite:")) return "postgres";
  const path = relative(process.cwd(), database.slice("sqlite:".length));
  return path.startsWith("..") ? database : `sqlite:./${path}`;
}

function providersLine({ catalog }: Settings): string {
  const providers = [...catalog.providers.values()];
  if (providers.every(({ kind }) => kind === "sandbox")) {
    const variables = readBuiltin()
      .providers.slice(0, 3)
      .map(({ keyVariable }) => keyVariable);
    return `sandbox (simulated answers; set ${variables.join(", ")} … for real ones)`;
  }
  return providers.map(({ id }) => id).join(", ");
}
