// Data that is longer than pages are drawn for: prompts, names of keys, accounts and profiles, and ids of models.

import { expect, vi } from "vitest";
import type { GatewayOptions, TestGateway } from "../support/gateway/gateway.ts";
import { WAIT_MAX_MS } from "./dashboard.ts";

const LONG = "Summarise the quarterly report of the second floor, and compare every number with those of last year. ";
const KEY_NAME = "batch-jobs-of-the-product-team-on-the-second-floor-production-europe";
const SECOND_MODEL = "claude-opus-4-8";
/** The longest ids of the catalogue that ships. */
const MODELS_MAX = 4;

/** Content is kept, so that lists have prompts. */
export const LONG_DATA: GatewayOptions = {
  yaml: "logging: { content: true }",
  env: { SWITCHYARD_STARTER_CREDITS: "0" },
};

/** Ids of what was made, for addresses. */
export interface LongData {
  readonly account: string;
  readonly key: string;
  readonly models: readonly string[];
  readonly profile: string;
  readonly request: string;
  readonly session: string;
}

type Make = <Made>(method: string, path: string, body?: object) => Promise<Made>;

/** Teams in each other, people, budgets of several kinds, and targets of alerts. */
async function makeGroups(made: Make): Promise<void> {
  const name = "The whole of the department of research and development, Europe";
  const team = await made<{ id: string }>("POST", "/api/teams", { name, allowedModels: [SECOND_MODEL] });
  await made("POST", "/api/teams", { name: `Part of ${name}`, parent: team.id });
  const email = "a.person.with.a.very.long.name.indeed@subsidiary-of-the-company.example.com";
  await made("POST", "/api/invitations", { email, role: "member", teams: [team.id] });
  const month = { period: "month", amountUsd: "123456.789" };
  await made("POST", "/api/budgets", { name, scope: "team", value: team.id, ...month });
  await made("POST", "/api/budgets", { name: KEY_NAME, scope: "endUser", hard: false, rolling: true, ...month });
  const url = `https://hooks.example.com/services/T0000/${"a-very-long-path-of-a-hook-".repeat(3)}`;
  await made("POST", "/api/alerts", {
    name,
    channel: "webhook",
    url,
    quiet: { from: "22:00", to: "07:00", timeZone: "UTC" },
  });
}

/** Requests of several models and keys, errors, samples and top-ups with long notes. */
export async function makeLongData({ api, post }: TestGateway): Promise<LongData> {
  const made = async <Made>(method: string, path: string, body?: object): Promise<Made> =>
    (await (await api(method, path, body)).json()) as Made;
  const rows = async <Row>(path: string): Promise<readonly Row[]> =>
    ((await (await api("GET", path)).json()) as { data: readonly Row[] }).data;
  const account = await made<{ id: string }>("POST", "/api/accounts", {
    name: "Product team of the second floor, Europe",
  });
  await api("POST", "/api/credits/topups", { amountUsd: "1234.567891", note: LONG });
  await makeGroups(made);
  const profile = await made<{ id: string }>("POST", "/api/profiles", { name: `Profile of ${KEY_NAME}` });
  const rule = { model: SECOND_MODEL, share: 1, budgetUsdPerDay: "5" };
  await api("PUT", `/api/profiles/${profile.id}/shadow`, rule);
  const key = await made<{ id: string; key: string }>("POST", "/api/keys", { name: KEY_NAME, profile: profile.id });
  const ask = async (content: string, more: object = {}, text?: string): Promise<void> => {
    const body = { model: "auto", messages: [{ role: "user", content }], ...more };
    const headers = text === undefined ? {} : { authorization: `Bearer ${text}` };
    await (await post("/v1/chat/completions", body, headers)).text();
  };
  const models = await rows<{ id: string; isRoutable: boolean; tier: string | null }>("/api/models");
  const routed = models.filter(({ isRoutable, tier }) => isRoutable && tier !== null).map(({ id }) => id);
  const longest = [...routed].sort((a, b) => b.length - a.length).slice(0, MODELS_MAX);
  for (const model of longest) await ask(LONG.repeat(4), { model, service_profile: "direct", user: KEY_NAME });
  await ask("Unbroken".repeat(40), { user: KEY_NAME });
  await ask(LONG, { service_profile: "direct", model: `no-such-model-${KEY_NAME}` });
  for (const content of [LONG.repeat(8), "Hi!", "Prove that the square root of two is irrational."])
    await ask(content, {}, key.key);
  // Samples are made after their answers.
  await vi.waitFor(async () => {
    const { total } = await made<{ total: { samples: number } }>("GET", "/api/outcomes");
    expect(total.samples).toBe(3);
  }, WAIT_MAX_MS);
  const requests = await rows<{ id: string; session: string | null }>("/api/requests?limit=50");
  const session = requests.find((request) => request.session !== null)?.session ?? "";
  const ids = { account: account.id, key: key.id, profile: profile.id };
  return { ...ids, models: longest, request: requests[0]?.id ?? "", session };
}
