// GET /v1/key: what the caller's own key has used lately, so that a program can tell what its work has cost. Free.

import type { FastifyInstance } from "fastify";
import { baselinePriceOf } from "../../catalog/catalog.ts";
import { formatUsd } from "../../core/money.ts";
import { shownName } from "../../core/names.ts";
import type { BaselinePrice } from "../../core/requests/records.ts";
import type { JsonObject } from "../../formats/json/fields.ts";
import type { CallContext } from "../context.ts";
import { callerOf } from "./key-admission.ts";
import { caughtUp } from "./record.ts";

/** The time that the usage is told over: that many days of UTC and today. */
const DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A program may ask while its other requests run. */
const NO_SLOT = { config: { needsNoSlot: true } };

export function registerKey(server: FastifyInstance, context: Pick<CallContext, "records" | "services" | "now">): void {
  server.get("/v1/key", NO_SLOT, async (request): Promise<JsonObject> => {
    const { records, services, now } = context;
    const { id, accountId, name, expiresAtMs } = callerOf(request).key;
    const fromMs = (Math.floor(now() / DAY_MS) - DAYS) * DAY_MS;
    await caughtUp(records);
    const days = (await records.usage.ofKeys(accountId, [id], fromMs)).get(id) ?? [];
    const { catalog } = services();
    return {
      object: "key",
      id,
      name: shownName(name),
      expires_at: expiresAtMs === null ? null : Math.floor(expiresAtMs / 1000),
      usage: {
        from: Math.floor(fromMs / 1000),
        requests: days.reduce((sum, day) => sum + day.requests, 0),
        errors: days.reduce((sum, day) => sum + day.errors, 0),
        cost_usd: formatUsd(days.reduce((sum, day) => sum + day.charge, 0n)),
        baseline_cost_usd: formatUsd(days.reduce((sum, day) => sum + day.baseline, 0n)),
      },
      baseline: baselineFields(catalog.baseline.id, baselinePriceOf(catalog)),
    };
  });
}

function baselineFields(model: string, price: BaselinePrice | null): JsonObject {
  if (price === null) return { model, price: null };
  return { model, price: { input: price.input, output: price.output, as_of: price.asOf } };
}
