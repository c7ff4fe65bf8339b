// Advice for the operator on a failed provider test: what is wrong, and how to fix it.

import { readBuiltin } from "../../catalog/builtin.ts";
import { type HostedModel, hasKey, type Provider } from "../../core/model.ts";
import { type Failure, judge } from "../attempt/verdict.ts";
import * as TEXT from "../text.ts";

export interface Tested {
  readonly provider: Provider;
  /** The model that was asked; null where none was. */
  readonly model: HostedModel | null;
}

const SAID_MAX = 200;

export function adviseOn(failure: Failure, tested: Tested): TEXT.Advice {
  const { problem, fix } = failure.kind === "status" ? onStatus(failure, tested) : onSilence(failure, tested);
  return { problem: withoutSecrets(problem, tested.provider), fix };
}

function onSilence({ kind, message }: Failure, { provider }: Tested): TEXT.Advice {
  const { host } = new URL(provider.baseUrl);
  const reason = withoutSecrets(message, provider).slice(0, SAID_MAX);
  if (kind === "connect") return TEXT.cannotBeReached(host, reason, provider.id);
  if (kind === "timeout") return TEXT.didNotAnswer(host, reason);
  if (kind === "broken") return TEXT.closedConnection(host, reason, provider.id);
  return TEXT.wrongFormat(host, reason, provider);
}

function onStatus(failure: Failure, tested: Tested): TEXT.Advice {
  const { provider, model } = tested;
  const status = failure.status ?? 0;
  const said = saidBy(failure, provider);
  if (status === 401 || status === 403 || failure.fault?.isGatewayRefused === true)
    return {
      problem: TEXT.keyProblem(provider.id, hasKey(provider) ? TEXT.refusesKey : TEXT.asksForAKey, status, said),
      fix: newKey(provider),
    };
  if (isUnpaid(failure)) return TEXT.insufficientCredit(provider.id, status, said);
  if (status === 404 && model !== null) return TEXT.unknownModel(provider.id, model, said);
  if (status === 429) return TEXT.rateLimitReached(provider.id, said);
  if (status >= 500) return TEXT.serverError(provider.id, status, said);
  return TEXT.testRefused(provider.id, status, said, model?.id ?? null);
}

function isUnpaid(failure: Failure): boolean {
  const isQuota = failure.fault?.mentionsBilling === true;
  const isBadRequest = failure.status === 400 && judge(failure).blame === "operator";
  return failure.status === 402 || isBadRequest || (failure.status === 429 && isQuota);
}

function saidBy({ fault }: Failure, provider: Provider): string {
  const words = withoutSecrets(fault?.message ?? "", provider)
    .trim()
    .slice(0, SAID_MAX);
  return words === "" ? "" : TEXT.itSays(`${words}${/[.!?…]$/.test(words) ? "" : "."}`);
}

function newKey(provider: Provider): string {
  const { id, baseUrl } = provider;
  const builtin = readBuiltin().providers.find((row) => row.id === id && row.baseUrl === baseUrl);
  const places = [builtin?.keyVariable, `providers.${id}.apiKey`].filter((place) => place != null).join(" or ");
  return hasKey(provider) ? TEXT.replaceKey(places) : TEXT.enterKey(places);
}

const SECRET_LENGTH_MIN = 4;
const KEY_SHAPED = /\b(?:sk|pk|gsk|key|xai|AIza)[-_][\w-]{6,}/g;

/** Providers like to repeat the key they refuse. */
function withoutSecrets(text: string, { apiKey, apiKeys = [], headers }: Provider): string {
  const values = [apiKey ?? "", ...apiKeys.map(({ key }) => key), ...Object.values(headers)];
  const secrets = values.filter(({ length }) => length >= SECRET_LENGTH_MIN);
  return secrets.reduce((left, secret) => left.replaceAll(secret, "•••"), text).replaceAll(KEY_SHAPED, "•••");
}
