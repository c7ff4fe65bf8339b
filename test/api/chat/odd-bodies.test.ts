// Bodies that are valid JSON and strange: keys that mean something to JavaScript, marks, surrogates, huge numbers, very
// many values. None of them changes the process, and what reaches a provider is what was sent.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { VERSION } from "../../support/providers/messages.ts";

const CHAT = "/v1/chat/completions";
let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  // Bodies of 20 MB are made and sent in this very process; that it is busy says nothing about the gateway.
  const env = { SWITCHYARD_LOG_CONTENT: "1" };
  gateway = await startGateway({ yaml: labYaml(provider.url, ["alpha"]), env });
});
afterAll(async () => {
  expect(gateway.logged.filter(({ level }) => level === "error")).toEqual([]);
  await gateway.stop();
  await provider.close();
});

const MESSAGES = '"messages":[{"role":"user","content":"Hello there"}]';

/** What the provider got as text. */
async function forwarded(body: string): Promise<string> {
  provider.requests.length = 0;
  const answer = await gateway.post(CHAT, body);
  expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([200, ""]);
  return provider.requests[0]?.raw ?? "";
}

/** At each place from the end, because a session reads only some of the messages before. */
it("remembers a conversation whose parts have other things than text as their text", async () => {
  const odd = { role: "assistant", content: [{ type: "refusal", refusal: "no", text: ["x"] }] };
  const said = Array.from({ length: 24 }, (_, place) => ({ role: "user", content: `Message ${place}. `.repeat(20) }));
  for (const place of [8, 13, 21]) {
    const messages = said.map((message, index) => (index === said.length - place ? odd : message));
    expect((await gateway.post(CHAT, { ...HELLO, messages })).status).toBe(200);
  }
});

describe("keys that mean something to JavaScript", () => {
  it.each([
    `{"__proto__":{"stream":true,"polluted":1},${MESSAGES}}`,
    `{"constructor":{"prototype":{"polluted":1}},${MESSAGES}}`,
    `{"metadata":{"__proto__":{"polluted":1},"hasOwnProperty":1},${MESSAGES}}`,
    `{"toString":1,"valueOf":null,"then":"x",${MESSAGES}}`,
    `{"messages":[{"role":"user","content":"Hello","__proto__":{"role":"system","polluted":1}}]}`,
  ])("change nothing: %s", async (body) => {
    const raw = await forwarded(body);
    expect(JSON.parse(raw).stream).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(typeof {}.toString).toBe("function");
  });

  it.each([`{"__proto__":{${MESSAGES}}}`, `{"constructor":{${MESSAGES}}}`])("lend nothing: %s", async (body) => {
    await expectError(await gateway.post(CHAT, body), { status: 422, code: "invalid_messages" });
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "are no model, role or control: %s",
    async (word) => {
      await expectError(await gateway.post(CHAT, { ...HELLO, model: word, service_profile: "direct" }), {
        status: 404,
      });
      await expectError(await gateway.post(CHAT, { ...HELLO, service_profile: word }), { status: 400 });
      await expectError(await gateway.post(CHAT, { ...HELLO, service_tier_floor: word }), { status: 400 });
      await expectError(await gateway.post(CHAT, { messages: [{ role: word, content: "x" }] }), { status: 422 });
      expect((await gateway.api("GET", `/api/keys?account=${word}`)).status).toBe(404);
    },
  );
});

describe("characters", () => {
  it("a mark at the beginning is ignored", async () => {
    const raw = await forwarded(`\ufeff{${MESSAGES}}`);
    expect(JSON.parse(raw).messages[0].content).toBe("Hello there");
    expect(raw.charCodeAt(0)).toBe("{".charCodeAt(0));
  });

  it.each([
    ["NUL", "\\u0000a\\u0000"],
    ["half of a pair", "\\ud800 and \\udfff"],
    ["a pair written out", "\\ud83d\\ude00"],
    ["control characters", "\\u0007\\u001b[31mred\\u009b0m"],
    ["directions reversed", "\\u202eevil\\u2066"],
    ["a line break of JavaScript", "\u2028\u2029"],
  ])("%s passes as it came", async (_name, text) => {
    expect(await forwarded(`{"messages":[{"role":"user","content":"${text}"}]}`)).toContain(`"content":"${text}"`);
  });

  it.each([
    ["a byte that is none", [0xff]],
    ["a character cut short", [0xe2, 0x82]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["half of a pair in UTF-8", [0xed, 0xa0, 0x80]],
    ["beyond the last character", [0xf5, 0x80, 0x80, 0x80]],
  ])("%s is not UTF-8", async (_name, bytes) => {
    const body = Buffer.concat([
      Buffer.from('{"messages":[{"role":"user","content":"'),
      Buffer.from(bytes),
      Buffer.from('"}]}'),
    ]);
    const answer = await fetch(`${gateway.url}${CHAT}`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body,
    });
    await expectError(answer, { status: 400, code: "invalid_json" });
  });

  it("the log of requests can be read with all of them in it", async () => {
    await expect
      .poll(
        async () => ((await (await gateway.api("GET", "/api/requests?limit=100")).json()) as { data: [] }).data.length,
        {
          timeout: 60_000,
        },
      )
      .toBeGreaterThanOrEqual(10);
    const { data } = (await (await gateway.api("GET", "/api/requests?limit=100")).json()) as { data: { id: string }[] };
    for (const { id } of data) expect((await gateway.api("GET", `/api/requests/${id}`)).status).toBe(200);
  });
});

describe("numbers", () => {
  it.each(["1e400", "-1e400", "1e-400", "9007199254740993", "123456789012345678901234567890"])(
    "%s where we read none passes as it was written",
    async (number) => {
      expect(await forwarded(`{"seed":${number},${MESSAGES}}`)).toContain(`"seed":${number}`);
    },
  );

  it.each(["n", "max_tokens", "service_max_cost", "service_code_quality"])(
    "beyond all bounds in %s are 400",
    async (field) => {
      for (const number of ["1e400", "-1e400", "1e308", "-1"]) {
        await expectError(await gateway.post(CHAT, `{"${field}":${number},${MESSAGES}}`), { status: 400 });
      }
    },
  );
});

describe("very many values", () => {
  const many = (value: string, bytes: number): string =>
    `{${MESSAGES},"metadata":[${Array(Math.floor(bytes / (value.length + 1)))
      .fill(value)
      .join(",")}]}`;
  const MB = 1024 * 1024;

  it.each(['{"a":1}', "[]", "1", '""', '{"a":{"b":[]}}'])("20 MB of %s are refused at once", async (value) => {
    provider.requests.length = 0;
    const body = many(value, 20 * MB);
    for (const path of [CHAT, "/v1/messages", "/v1/routing/debug"]) {
      const answer = await gateway.post(path, body, path === "/v1/messages" ? VERSION : {});
      expect([path, answer.status]).toEqual([path, 413]);
      expect(await answer.text()).toContain("too_many_values");
    }
    expect(provider.requests).toEqual([]);
  });

  it.each([" ", "1", "\n"])("20 MB of %j outside of texts are refused at once", async (filler) => {
    const answer = await gateway.post(CHAT, `{${MESSAGES},"seed":${filler.repeat(20 * MB)}1}`);
    expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining("too_many_values")]);
  });

  it("tens of thousands are served, and a long text is", async () => {
    expect(await forwarded(many('{"a":1}', 0.3 * MB))).toContain('{"a":1}');
    const text = "Größe, 漢字, 😀, and words. ".repeat((3 * MB) / 20);
    const raw = await forwarded(JSON.stringify({ ...HELLO, user: text }));
    expect(JSON.parse(raw).user).toBe(text);
  });

  it("a large body that is not UTF-8 at its very end is found out too", async () => {
    const body = Buffer.concat([
      Buffer.from(`{${MESSAGES},"user":"${"é".repeat(MB)}`),
      Buffer.from([0xc3]),
      Buffer.from('"}'),
    ]);
    const answer = await fetch(`${gateway.url}${CHAT}`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body,
    });
    await expectError(answer, { status: 400, code: "invalid_json" });
  });
});

describe("a mistake inside a long text of a long body", () => {
  it("is refused before any host gets it", async () => {
    const before = provider.requests.length;
    for (const wrong of ["C:\\x\\alpha", "a\u0001b", "é \\x"]) {
      for (const stream of [false, true]) {
        const content = `"content":"${wrong.padEnd(150_000, "x")}"`;
        const body = `{"model":"auto","stream":${stream},"messages":[{"role":"user",${content}},{"role":"user","content":"Hi"}]}`;
        await expectError(await gateway.post(CHAT, body), { status: 400, code: "invalid_json" });
      }
    }
    expect(provider.requests).toHaveLength(before);
  });
});
