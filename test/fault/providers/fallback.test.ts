// What a failed attempt leads to, for every way a provider can fail: the same model again, the next model, and what the
// client is told when nothing is left.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Behaviour, cutsBody, fails, sends, sendsRaw } from "../../support/providers/fake-provider.ts";
import { isLong } from "../../support/random.ts";
import { errorOf, type Lab, openLab } from "../lab.ts";

interface Row {
  readonly name: string;
  readonly behaviour: Behaviour;
  /** Whether the same model is tried once more: at once, or when no other is left. */
  readonly again: boolean | "later";
  readonly next: boolean;
  /** The status when every model does this. */
  readonly status: 503 | 400;
  readonly reason: RegExp | null;
}

const PASSING = { again: true, next: true, status: 503 } as const;
const LATER = { again: "later", next: true, status: 503 } as const;
const NEXT_ONLY = { again: false, next: true, status: 503 } as const;
const FINAL = { again: false, next: false, status: 400 } as const;

const html: Behaviour = sends(200, "<html><body>Bad gateway</body></html>", { "content-type": "text/html" });
const redirects: Behaviour = ({ request, response }) => {
  response.writeHead(302, { location: `http://${request.headers.host}/v1/elsewhere` });
  response.end();
};
const hugeAnswer: Behaviour = ({ response }) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  response.end(Buffer.alloc(33 * 1024 * 1024, " "));
};
const noTokens = { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 };
const emptyMessage = { index: 0, message: { role: "assistant", content: "" }, finish_reason: "stop" };
const IN_TEN_MINUTES = new Date(Date.now() + 600_000).toUTCString();

/** Those that mean the same. test/unit/gateway/attempt/verdict.test.ts judges each. */
const PASSING_STATUSES = isLong ? [408, 409, 425, 500, 502, 503, 504, 520, 524, 529] : [408, 500, 529];
const OPERATOR_STATUSES = isLong ? [401, 402, 403, 404] : [401, 404];
/** Silence is waited for in test/fault/providers/timeouts.test.ts and matrix-before.test.ts. */
const TABLE: readonly Row[] = [
  // Without a byte it may be an idle connection that was closed: test/fault/providers/stale-connections.test.ts.
  { name: "cut in the headers", behaviour: sendsRaw("HTTP/1.1 2"), ...PASSING, reason: /closed|reset|hang up/i },
  ...PASSING_STATUSES.map((status) => ({
    name: `${status}`,
    behaviour: fails(status),
    ...PASSING,
    reason: new RegExp(`^status ${status}: scripted`),
  })),
  { name: "503, wait 1 h", behaviour: fails(503, {}, { "retry-after": "3600" }), ...NEXT_ONLY, reason: /status 503/ },
  { name: "503, wait 20 ms", behaviour: fails(503, {}, { "retry-after-ms": "20" }), ...LATER, reason: /status 503/ },
  { name: "429 without a wait", behaviour: fails(429), ...NEXT_ONLY, reason: /status 429/ },
  { name: "429, wait 0 s", behaviour: fails(429, {}, { "retry-after": "0" }), ...LATER, reason: /status 429/ },
  { name: "429, wait 20 ms", behaviour: fails(429, {}, { "retry-after-ms": "20" }), ...LATER, reason: /status 429/ },
  { name: "429, Azure's ms", behaviour: fails(429, {}, { "x-ms-retry-after-ms": "9" }), ...LATER, reason: /429/ },
  { name: "429, wait 30 s", behaviour: fails(429, {}, { "retry-after": "30" }), ...NEXT_ONLY, reason: /status 429/ },
  {
    name: "429, wait until a date",
    behaviour: fails(429, {}, { "retry-after": IN_TEN_MINUTES }),
    ...NEXT_ONLY,
    reason: /status 429/,
  },
  ...OPERATOR_STATUSES.map((status) => ({
    name: `${status} of the provider`,
    behaviour: fails(status, { code: "invalid_api_key" }),
    ...NEXT_ONLY,
    reason: new RegExp(`^status ${status}`),
  })),
  { name: "418", behaviour: fails(418), ...NEXT_ONLY, reason: /status 418/ },
  { name: "501", behaviour: fails(501), ...NEXT_ONLY, reason: /status 501/ },
  { name: "a redirect", behaviour: redirects, ...NEXT_ONLY, reason: /status 302/ },
  { name: "a cut body", behaviour: cutsBody, ...NEXT_ONLY, reason: /closed|terminated|aborted/i },
  { name: "an empty body", behaviour: sends(200, ""), ...NEXT_ONLY, reason: /not a JSON object/ },
  { name: "HTML", behaviour: html, ...NEXT_ONLY, reason: /not a JSON object/ },
  { name: "a JSON array", behaviour: sends(200, "[]"), ...NEXT_ONLY, reason: /not a JSON object/ },
  { name: "half a JSON", behaviour: sends(200, '{"choices":['), ...NEXT_ONLY, reason: /not a JSON object/ },
  { name: "no choices", behaviour: sends(200, { id: "x", choices: [] }), ...NEXT_ONLY, reason: /no choices/ },
  {
    name: "no content and no tokens",
    behaviour: sends(200, { choices: [emptyMessage], usage: noTokens }),
    ...NEXT_ONLY,
    reason: /empty/,
  },
  {
    name: "an error with 200",
    behaviour: sends(200, { error: { message: "inner trouble", code: 502 } }),
    ...NEXT_ONLY,
    reason: /inner trouble/,
  },
  { name: "an answer over 32 MB", behaviour: hugeAnswer, ...NEXT_ONLY, reason: /larger than/ },
  { name: "400", behaviour: fails(400, { code: "string_above_max_length" }), ...FINAL, reason: null },
  { name: "422", behaviour: fails(422), ...FINAL, reason: null },
  { name: "content filter", behaviour: fails(400, { code: "content_filter" }), ...FINAL, reason: null },
];

let lab: Lab;
beforeAll(async () => {
  // Failing is all this provider does, so its share of failures says nothing here.
  lab = await openLab({ health: { callsMin: 100_000 } });
});
beforeEach(() => lab.reset());
afterAll(() => lab.close());

describe.each(TABLE)("$name", ({ behaviour, again, next, status, reason }) => {
  const word = again === true ? "once more" : "not again";
  test(`the same model ${word}, the next one ${next ? "then" : "not"}`, async () => {
    const { provider, ask, line: lineOf } = lab;
    provider.on("alpha", behaviour);
    const response = await ask();
    expect(provider.callsTo("alpha")).toBe(again === true ? 2 : 1);
    expect(provider.callsTo("beta")).toBe(next ? 1 : 0);
    expect(response.status).toBe(next ? 200 : 400);
    const fallback = { model: "beta", service: { model: "alpha", fallback: true } };
    expect(await response.json()).toMatchObject(next ? fallback : { error: { type: "invalid_request_error" } });
    const { attempts } = await lineOf(response.headers.get("x-request-id")!);
    // A refusal may quote the prompt, so its words stay out of the log.
    const told = reason === null ? null : expect.stringMatching(reason);
    expect(attempts[0]).toMatchObject({ model: "alpha", outcome: "failed", reason: told });
  });

  // The same again for every model takes longest where the answers are large.
  test.runIf(isLong || behaviour !== hugeAnswer)(`${status} when every model does so`, async () => {
    const { provider, ask, line: lineOf } = lab;
    provider.on("*", behaviour);
    const response = await ask();
    const text = await response.text();
    expect(response.status).toBe(status);
    expect(provider.requests.length).toBe((again ? 2 : 1) * (next ? 2 : 1));
    expect(text).not.toContain("lab-secret");
    if (status !== 503) return;
    expect(JSON.parse(text).error).toMatchObject({ type: "provider_error", code: "all_providers_failed" });
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(text).not.toMatch(/scripted|inner|status \d|127\.0\.0\.1|alpha|beta/);
    const line = await lineOf(response.headers.get("x-request-id")!);
    expect(line).toMatchObject({ status: 503, model: null });
    expect(line.attempts).toHaveLength(provider.requests.length);
  });
});

test.each(TABLE.filter(({ again }) => again === true))("$name, then an answer: no fallback", async ({ behaviour }) => {
  lab.provider.once("alpha", behaviour);
  const body = await (await lab.ask()).json();
  expect(body).toMatchObject({ model: "alpha", service: { model: "alpha", fallback: false } });
  expect(lab.provider.requests.map((request) => request.body.model)).toEqual(["alpha", "alpha"]);
});

describe.each(TABLE.filter(({ again }) => again === "later"))("$name, then an answer", ({ behaviour }) => {
  test("is waited for when there is no other model", async () => {
    lab.provider.once("alpha", behaviour);
    const body = await (await lab.ask({ model: "alpha", service_profile: "direct" })).json();
    expect(body).toMatchObject({ model: "alpha", service: { fallback: false } });
    expect(lab.provider.callsTo("alpha")).toBe(2);
  });

  test("is waited for when every other model failed", async () => {
    lab.provider.once("alpha", behaviour);
    lab.provider.on("beta", fails(401));
    expect(await (await lab.ask()).json()).toMatchObject({ model: "alpha", service: { fallback: false } });
    expect(lab.provider.requests.map((request) => request.body.model)).toEqual(["alpha", "beta", "alpha"]);
  });
});

test("the model with the shortest pause is waited for first", async () => {
  lab.provider.once("alpha", fails(429, {}, { "retry-after": "2" }));
  lab.provider.once("beta", fails(429, {}, { "retry-after-ms": "20" }));
  expect(await (await lab.ask()).json()).toMatchObject({ model: "beta" });
  expect(lab.provider.requests.map((request) => request.body.model)).toEqual(["alpha", "beta", "beta"]);
});

test("a retry without a pause leaves room for a model that asked for one", async () => {
  lab.provider.once("alpha", fails(429, {}, { "retry-after-ms": "20" }));
  lab.provider.on("beta", fails(500));
  expect(await (await lab.ask()).json()).toMatchObject({ model: "alpha" });
  expect(lab.provider.requests.map((request) => request.body.model)).toEqual(["alpha", "beta", "beta", "alpha"]);
});

test("the operator hears of a key the provider refuses", async () => {
  lab.provider.on("alpha", fails(401));
  const response = await lab.ask();
  const id = response.headers.get("x-request-id");
  expect(response.status).toBe(200);
  expect(lab.gateway.logged).toContainEqual({
    level: "error",
    fields: expect.objectContaining({
      event: "provider.rejected_credentials",
      requestId: id,
      model: "alpha",
      reason: "status 401: scripted 401",
    }),
    message: "provider rejected our credentials or model",
  });
});

test("a client is sent the soonest moment at which a model may be called, ten seconds at most", async () => {
  lab.provider.on("alpha", fails(429, {}, { "retry-after": "250" }));
  lab.provider.on("beta", fails(429, {}, { "retry-after": "7" }));
  expect((await lab.ask()).headers.get("retry-after")).toBe("7");
  await lab.reset();
  lab.provider.on("*", fails(429, {}, { "retry-after": "250" }));
  expect((await lab.ask()).headers.get("retry-after")).toBe("10");
  await lab.reset();
  // A model that names no time may be called at once, one that refuses the request or its key never.
  lab.provider.on("alpha", fails(429, {}, { "retry-after": "7" }));
  lab.provider.on("beta", fails(500));
  expect((await lab.ask()).headers.get("retry-after")).toBe("1");
  await lab.reset();
  lab.provider.on("alpha", fails(429, {}, { "retry-after": "7" }));
  lab.provider.on("beta", fails(401));
  expect((await lab.ask()).headers.get("retry-after")).toBe("7");
});

describe("a refused field", () => {
  const refuses = (param: string, code = "unsupported_parameter"): Behaviour => fails(400, { code, param });

  test("is left out and the model is asked once more", async () => {
    lab.provider.once("alpha", refuses("top_p"));
    const response = await lab.ask({ top_p: 0.5, temperature: 0.1 });
    expect(await response.json()).toMatchObject({ model: "alpha" });
    const [first, second] = lab.provider.requests.map(({ body }) => body);
    expect(first).toMatchObject({ top_p: 0.5, temperature: 0.1 });
    expect(second).not.toHaveProperty("top_p");
    expect(second).toHaveProperty("temperature", 0.1);
    const { attempts } = await lab.line(response.headers.get("x-request-id")!);
    expect(attempts[1]).toMatchObject({ outcome: "answered", droppedFields: ["top_p"] });
  });

  test("refused again: the next model gets the whole request", async () => {
    lab.provider.on("alpha", refuses("top_p"));
    expect(await (await lab.ask({ top_p: 0.5 })).json()).toMatchObject({ model: "beta" });
    expect(lab.provider.callsTo("alpha")).toBe(2);
    expect(lab.provider.requests.at(-1)!.body).toHaveProperty("top_p", 0.5);
  });

  test("refused by every model: 400 with the provider's word", async () => {
    lab.provider.on("*", refuses("top_p", "unsupported_value"));
    const response = await lab.ask({ top_p: 0.5 });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: "unsupported_value", param: "top_p" });
  });

  test.each(["messages", "tools", "n", "response_format", "messages[0].content", "never_sent", ""])(
    "%j is never left out: straight to the next model",
    async (param) => {
      lab.provider.on("alpha", refuses(param));
      const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
      const response = await lab.ask({ tools, n: 1, response_format: { type: "text" } });
      expect(response.status).toBe(200);
      expect(lab.provider.callsTo("alpha")).toBe(1);
      expect(lab.provider.callsTo("beta")).toBe(1);
    },
  );

  test.each([
    ["max_tokens", "max_completion_tokens"],
    ["max_completion_tokens", "max_tokens"],
  ])("%s still caps the answer, as %s", async (refused, other) => {
    lab.provider.once("alpha", refuses(refused));
    expect((await lab.ask({ [refused]: 50 })).status).toBe(200);
    const { body } = lab.provider.requests[1]!;
    expect(body).toHaveProperty(other, 50);
    expect(body).not.toHaveProperty(refused);
  });

  test("stream_options, which we add, goes too", async () => {
    lab.provider.once("alpha", refuses("stream_options"));
    const response = await lab.ask({ stream: true });
    expect(await response.text()).toContain("[DONE]");
    expect(lab.provider.requests.map(({ body }) => "stream_options" in body)).toEqual([true, false]);
  });
});
