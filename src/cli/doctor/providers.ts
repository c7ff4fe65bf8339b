// Checks of providers: their lists of models, which cost nothing, and with --test one tiny answer each, asked for as a
// request would ask.

import type { Catalog } from "../../catalog/catalog.ts";
import type { Check } from "../../config/doctor.ts";
import { command } from "../../config/package.ts";
import { KEY_ENDS_SOON_MS, type Provider, type SignInState } from "../../core/model.ts";
import { type Listing, listModels } from "../../gateway/operate/list-models.ts";
import { compareFound, nameFound } from "../../gateway/operate/local-servers.ts";
import { probe } from "../../gateway/operate/probe.ts";
import { discover, type LocalSearch } from "../../providers/local/discover.ts";
import { createRegistry, type Registry } from "../../providers/registry.ts";
import * as TEXT from "../command/text.ts";

/** The list of each provider except the sandbox, all asked at once. */
export function listProviders({ providers }: Catalog, timeoutMs?: number): Promise<readonly Listing[]> {
  const timeout = timeoutMs === undefined ? {} : { patienceMs: timeoutMs };
  return withProviders(providers, async (provider, registry) => {
    const listing = await listModels(provider, { registry, now: Date.now, ...timeout });
    const signIn = await registry.connection(provider.id).identify(AbortSignal.timeout(IDENTIFY_MS));
    return { ...listing, signIn };
  });
}

/** Asking a cloud whom it sees is worth no longer wait. */
const IDENTIFY_MS = 5_000;

/** With --test: one tiny answer of each provider, which it charges for. */
export function askProviders(catalog: Catalog): Promise<readonly Check[]> {
  return withProviders(catalog.providers, async (provider, registry): Promise<Check> => {
    const services = { catalog, registry, now: Date.now };
    const { ok, model, durationMs, problem, fix } = await probe({ provider, model: null }, services);
    if (ok) return { state: "ok", what: TEXT.modelAnswered(provider.id, model, durationMs), fix: null };
    return { state: "fail", what: named(provider, problem ?? ""), fix };
  });
}

/** Time in which model servers on this machine must answer. */
const LOCAL_MS = 1_000;

/** One line for each model server on this machine that no provider is configured for. */
export async function localChecks(
  catalog: Catalog,
  where: Pick<LocalSearch, "ownPort" | "servers">,
): Promise<readonly Check[]> {
  const found = await discover({ address: null, withinMs: LOCAL_MS, hasDetails: false, ...where });
  return compareFound(found, catalog)
    .filter(({ provider }) => provider === null)
    .map((server) => ({
      state: "ok",
      what: TEXT.serverFound(nameFound(server)),
      fix: TEXT.seeModels(command("providers discover")),
    }));
}

async function withProviders<T>(
  providers: Catalog["providers"],
  ask: (provider: Provider, registry: Registry) => Promise<T>,
): Promise<readonly T[]> {
  const called = [...providers.values()].filter(({ transport }) => transport !== "sandbox");
  const registry = createRegistry(providers);
  try {
    return await Promise.all(called.map((provider) => ask(provider, registry)));
  } finally {
    await registry.close();
  }
}

/** Some vendors list their models to anybody, so a list alone proves no key. */
export function listingCheck(listing: Listing, nowMs = Date.now()): Check {
  const check = reachedCheck(listing);
  const { signIn = null } = listing;
  if (check.state !== "ok" || signIn === null) return check;
  const { isRenewed, expiresAtMs } = signIn;
  const what = `${check.what}; ${signedIn(signIn)}`;
  const isEnding = !isRenewed && expiresAtMs !== null && expiresAtMs - nowMs <= KEY_ENDS_SOON_MS;
  return isEnding ? { state: "warn", what, fix: "Replace it before requests fail" } : { ...check, what };
}

function signedIn({ identity, expiresAtMs, isRenewed }: SignInState): string {
  const end = expiresAtMs === null ? "" : ` ${new Date(expiresAtMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  if (!isRenewed && identity === null) return end === "" ? "signed in" : `its key ends at${end}`;
  return `signed in${identity === null ? "" : ` as ${identity}`}${end === "" ? "" : ` until${end}`}`;
}

function reachedCheck({ provider, models, durationMs, problem, fix }: Listing): Check {
  if (problem !== null) return { state: "fail", what: named(provider, problem), fix };
  const { host } = new URL(provider.baseUrl);
  if (provider.hasDeployments === true) {
    const what = TEXT.keyAccepted(provider.id, host, durationMs);
    return { state: "ok", what, fix: TEXT.testOne(command("doctor --test")) };
  }
  const what =
    models === null
      ? TEXT.noModelsListed(provider.id, host)
      : TEXT.modelsListed(provider.id, host, models.length, durationMs);
  return {
    state: "ok",
    what,
    fix: models === null ? TEXT.testIt(command("doctor --test")) : null,
  };
}

/** A problem with the provider's id in front, where it does not name it already. */
function named({ id }: Provider, problem: string): string {
  const message = problem.replace(/\.$/, "");
  return message.startsWith(id) ? message : `${id}: ${message}`;
}
