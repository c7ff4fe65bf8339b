// Advice for the operator on a failed provider test: what is wrong, and how to fix it.

import { readBuiltin } from "../../catalog/builtin.ts";
import { type HostedModel, hasKey, type Provider } from "../../core/model.ts";
import { type Failure, judge } from "../attempt/verdict.ts";

export interface Advice {
  readonly problem: string;
  readonly fix: string;
}

export interface Tested {
  readonly provider: Provider;
  /** The model that was asked; null where none was. */
  readonly model: HostedModel | null;
}

const SAID_MAX = 200;

export function adviseOn(failure: Failure, tested: Tested): Advice {
  const { problem, fix } = failure.kind === "status" ? onStatus(failure, tested) : onSilence(failure, tested);
  return { problem: withoutSecrets(problem, tested.provider), fix };
}

function onSilence({ kind, message }: Failure, { provider }: Tested): Advice {
  const { host } = new URL(provider.baseUrl);
  const reason = withoutSecrets(message, provider).slice(0, SAID_MAX);
  if (kind === "connect")
    return {
      problem: `${host} cannot be reached: ${reason}.`,
      fix: `Check that it is running, then the network, the firewall and 'providers.${provider.id}.baseUrl'.`,
    };
  if (kind === "timeout")
    return {
      problem: `${host} did not answer in time: ${reason}.`,
      fix: "Try again. If it persists, check the provider's status page and your network.",
    };
  if (kind === "broken")
    return {
      problem: `${host} closed the connection: ${reason}.`,
      fix: `Try again. If it persists, check whether 'providers.${provider.id}.baseUrl' has the right scheme and port.`,
    };
  return {
    problem: `${host} sent a response that is not in ${provider.kind} format: ${reason}.`,
    fix: `Check 'kind' and 'baseUrl' of providers.${provider.id}; the address of an openai provider usually ends in /v1.`,
  };
}

function onStatus(failure: Failure, tested: Tested): Advice {
  const { provider, model } = tested;
  const status = failure.status ?? 0;
  const said = saidBy(failure, provider);
  if (status === 401 || status === 403 || failure.fault?.isGatewayRefused === true)
    return {
      problem: `${provider.id} ${hasKey(provider) ? "refuses the key" : "asks for a key"} (${status}).${said}`,
      fix: newKey(provider),
    };
  if (isUnpaid(failure))
    return {
      problem: `${provider.id} reports insufficient credit (${status}).${said}`,
      fix: "Add credit or raise the limit in your provider account.",
    };
  if (status === 404 && model !== null)
    return {
      problem: `${provider.id} does not know the model '${model.upstream}' or the address (404).${said}`,
      fix: `Check that the key may use it, 'upstream' of the model ${model.id}, and the path of 'providers.${provider.id}.baseUrl'.`,
    };
  if (status === 429)
    return {
      problem: `${provider.id} works, but its rate limit is reached (429).${said}`,
      fix: "Wait, or raise the limit at the provider.",
    };
  if (status >= 500)
    return {
      problem: `${provider.id} has a server error (${status}).${said}`,
      fix: "Try again later. Until then, requests fall back to other models.",
    };
  return {
    problem: `${provider.id} refused the test (${status}).${said}`,
    fix: `Check 'kind' and 'dialect' of providers.${provider.id}${model === null ? "" : ` and of the model ${model.id}`}.`,
  };
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
  return words === "" ? "" : ` It says: ${words}${/[.!?…]$/.test(words) ? "" : "."}`;
}

function newKey(provider: Provider): string {
  const { id, baseUrl } = provider;
  const builtin = readBuiltin().providers.find((row) => row.id === id && row.baseUrl === baseUrl);
  const places = [builtin?.keyVariable, `providers.${id}.apiKey`].filter((place) => place != null).join(" or ");
  return hasKey(provider)
    ? `Replace the key where it was set: on the Providers page, or in ${places}, which needs a restart.`
    : `Enter its key on the Providers page of the dashboard. Or set ${places} and restart the gateway.`;
}

const SECRET_LENGTH_MIN = 4;
const KEY_SHAPED = /\b(?:sk|pk|gsk|key|xai|AIza)[-_][\w-]{6,}/g;

/** Providers like to repeat the key they refuse. */
function withoutSecrets(text: string, { apiKey, apiKeys = [], headers }: Provider): string {
  const values = [apiKey ?? "", ...apiKeys.map(({ key }) => key), ...Object.values(headers)];
  const secrets = values.filter(({ length }) => length >= SECRET_LENGTH_MIN);
  return secrets.reduce((left, secret) => left.replaceAll(secret, "•••"), text).replaceAll(KEY_SHAPED, "•••");
}
