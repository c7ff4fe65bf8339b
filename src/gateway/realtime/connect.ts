// Connects a session to the first host of its model that takes it.

import type { Socket } from "node:net";
import { GatewayError } from "../../core/errors.ts";
import type { HostedModel } from "../../core/model.ts";
import { hasKey } from "../../core/model.ts";
import { REALTIME_PATH } from "../../formats/realtime/format.ts";
import type { Upgraded } from "../../providers/transport.ts";
import { keyIdsOf } from "../../routing/hosts.ts";
import { troubleOf } from "../attempt/health-outcome.ts";
import { type Failure, judge } from "../attempt/verdict.ts";
import type { Reservation } from "../reserve.ts";
import type { Services } from "../services.ts";
import * as TEXT from "../text.ts";

export interface Connected {
  readonly model: HostedModel;
  readonly keyId: string | undefined;
  readonly socket: Socket;
}

interface HostWay extends Pick<Connected, "model" | "keyId"> {
  readonly ticket: number;
}

/** Throws where no host takes the session. Hosts that are cooling down are tried last. */
export async function connectSession(
  { models, decision }: Pick<Reservation, "models" | "decision">,
  { sessionId }: { readonly sessionId: string },
  services: Services,
): Promise<Connected> {
  const { registry, health } = services;
  const ways = models.flatMap((model) => {
    const { apiKeys } = registry.connection(model.provider).provider;
    return keyIdsOf(apiKeys, decision, () => sessionId).map((keyId) => ({ model, keyId }));
  });
  let last: Failure | null = null;
  for (const isResting of [false, true]) {
    for (const { model, keyId } of ways) {
      const { hostKey } = model;
      const ticket = isResting ? health.admitResting(hostKey, keyId) : health.admit(hostKey, keyId);
      if (ticket === 0) continue;
      const result = await connect({ model, keyId, ticket }, services);
      if ("socket" in result) return result;
      last = result;
    }
    if (last !== null) break;
  }
  const details = { code: "no_realtime_host", retryAfterSeconds: 1 };
  throw new GatewayError("providersFailed", TEXT.noRealtimeHost(problemOf(last)), details);
}

async function connect({ model, keyId, ticket }: HostWay, services: Services): Promise<Connected | Failure> {
  const { registry, health, log } = services;
  const { provider, transport, format, redact } = registry.connection(model.provider);
  const path = `${REALTIME_PATH.replace("/v1", "")}?model=${encodeURIComponent(model.upstream)}`;
  const upgraded = await transport.openSocket?.({ path, model: model.upstream, keyId });
  if (upgraded?.ok === true) {
    health.report(model.hostKey, ticket, "answered", keyId);
    return { model, keyId, socket: upgraded.socket };
  }
  if (upgraded === undefined) {
    health.report(model.hostKey, ticket, "dropped", keyId);
    return failureOf("unconvertible", TEXT.noRealtimeAt(model.provider));
  }
  const failure = toFailure(upgraded, (bytes) => redact(format.readError(bytes).message));
  health.report(model.hostKey, ticket, troubleOf(failure, judge(failure), !hasKey(provider)), keyId);
  const fields = { model: model.id, provider: model.provider, status: failure.status, reason: redact(failure.message) };
  log.warn({ event: "realtime.refused", ...fields }, "provider did not open a session");
  return failure;
}

/** Clients are not told the words of a provider. */
function problemOf(failure: Failure | null): string | null {
  if (failure === null) return null;
  if (failure.status !== null) return TEXT.status(failure.status);
  return failure.kind === "unconvertible" ? failure.message : TEXT.unreachable;
}

function toFailure(upgraded: Exclude<Upgraded, { ok: true }>, wordsOf: (body: Buffer) => string): Failure {
  if ("failure" in upgraded) return failureOf(upgraded.failure.kind, upgraded.failure.message);
  const { status, body } = upgraded;
  const words = wordsOf(body);
  const message = `${TEXT.status(status)}${words === "" ? "" : `: ${words.slice(0, 300)}`}`;
  return { ...failureOf("status", message), status };
}

function failureOf(kind: Failure["kind"], message: string): Failure {
  return { kind, status: null, message, fault: null, retryAfterMs: null };
}
