// The WebSocket mode of Responses: turns on one connection, what they continue, their errors, and who may open one.

import { once } from "node:events";
import { connect } from "node:net";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { saysBlocks, text } from "../../support/providers/fake-anthropic.ts";
import { answers, chunk, cutsBody, fails, hangs, streams } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { finalResponse, type ResponseEvent } from "../../support/providers/responses.ts";
import { openSocket, type SocketClient } from "../../support/providers/socket.ts";
import { type Bank, bankOf } from "../../support/stores/money.ts";

let mixed: Mixed;
let bank: Bank;
let client: SocketClient;
beforeAll(async () => {
  mixed = await startMixed();
  bank = bankOf(mixed.openai, mixed.gateway);
});
beforeEach(async () => {
  await mixed.reset();
  client = await openSocket(mixed.gateway);
});
afterAll(() => mixed.close());

const on = (model: string): object => ({ model, service_profile: "direct" });
const sent = (): string => JSON.stringify(mixed.openai.requests.at(-1)?.body.messages);

const ASKS_ANEW = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: h2c\r\n\r\n";

describe("turns", () => {
  it("are answered with the events of a stream, one after another on one connection", async () => {
    mixed.openai.on("*", answers("fine"));
    for (const input of ["one", "two"]) {
      const { events, response } = await client.ask({ ...on("alpha"), store: false, input });
      expect(finalResponse(events as readonly ResponseEvent[]).id).toBe(response.id);
      expect(response).toMatchObject({ status: "completed", store: false, service: { model: "alpha" } });
      expect(sent()).toContain(input);
    }
    expect(await client.close()).toBe(1005);
  });

  it("that are sent at once run in their order", async () => {
    for (const input of ["first", "second", "third"]) client.send({ type: "response.create", ...on("alpha"), input });
    const turns = [await client.turn(), await client.turn(), await client.turn()];
    expect(turns.map(({ response }) => response.status)).toEqual(["completed", "completed", "completed"]);
    const asked = mixed.openai.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(["first", "second", "third"].every((input, place) => asked[place]?.includes(input))).toBe(true);
  });

  it("are requests like any other: charged, and in the log", async () => {
    const body = { ...on("alpha"), input: "What is it?" };
    const posted = await bank.spentBy(async () => {
      await (await mixed.gateway.post("/v1/responses", body)).text();
    });
    expect(posted).toBeGreaterThan(0n);
    expect(await bank.spentBy(async () => void (await client.ask(body)))).toBe(posted);
    const { data } = (await (await mixed.gateway.api("GET", "/api/requests?limit=1")).json()) as {
      data: readonly { endpoint: string; status: number; model: string }[];
    };
    expect(data[0]).toMatchObject({ status: 200, model: "alpha" });
  });
});

describe("a response that is not stored", () => {
  it("is continued on its connection, from one vendor to another, and nowhere else", async () => {
    mixed.openai.once("alpha-1", answers("The word is cobalt."));
    const first = await client.ask({ ...on("alpha"), store: false, input: "Remember cobalt." });
    const previous = { store: false, previous_response_id: first.response.id };
    mixed.anthropic.once("claude-real-1", saysBlocks([text("cobalt")]));
    const second = await client.ask({ ...on("claude"), ...previous, input: "Which word?" });
    expect(second.response).toMatchObject({ status: "completed", previous_response_id: first.response.id });
    const heard = JSON.stringify(mixed.anthropic.requests.at(-1)?.body.messages);
    expect(heard).toContain("Remember cobalt.");
    expect(heard).toContain("The word is cobalt.");
    const third = await client.ask({
      ...on("alpha"),
      store: false,
      previous_response_id: second.response.id,
      input: "?",
    });
    expect(third.response.status).toBe("completed");
    expect(sent()).toContain("Remember cobalt.");

    const other = await openSocket(mixed.gateway);
    const { last } = await other.ask({ ...previous, input: "Which word?" });
    expect(last).toMatchObject({ type: "error", status: 400, error: { code: "previous_response_not_found" } });
    expect((await mixed.gateway.get(`/v1/responses/${String(third.response.id)}`)).status).toBe(404);
    const posted = await mixed.gateway.post("/v1/responses", { ...previous, model: "auto", input: "?" });
    expect(posted.status).toBe(400);
  });

  it("is stored with its history when a later turn is stored", async () => {
    const first = await client.ask({ ...on("alpha"), store: false, input: "Remember cobalt." });
    const second = await client.ask({ ...on("alpha"), previous_response_id: first.response.id, input: "Which word?" });
    expect(second.response).toMatchObject({ store: true, previous_response_id: first.response.id });
    const body = { ...on("alpha"), previous_response_id: second.response.id, input: "Sure?" };
    expect((await mixed.gateway.post("/v1/responses", body)).status).toBe(200);
    expect(sent()).toContain("Remember cobalt.");
  });

  it("is dropped when its continuation fails", async () => {
    const first = await client.ask({ ...on("alpha"), store: false, input: "Remember ember." });
    const previous = { ...on("alpha"), store: false, previous_response_id: first.response.id };
    const output = { type: "function_call_output", call_id: "call_unknown", output: "?" };
    const failed = await client.ask({ ...previous, input: [output] });
    expect(failed.last).toMatchObject({ type: "error", status: 400, error: { code: "tool_call_not_found" } });
    const again = await client.ask({ ...previous, input: "Go on." });
    expect(again.last).toMatchObject({ status: 400, error: { code: "previous_response_not_found" } });
  });

  it("can be prepared without a model, free of charge", async () => {
    const body = { ...on("alpha"), store: false, input: "You will need this." };
    const warm = await client.ask({ ...body, generate: false });
    expect(warm.response).toMatchObject({ status: "completed", output: [] });
    expect(mixed.openai.requests).toEqual([]);
    const turn = await client.ask({ ...body, previous_response_id: warm.response.id, input: "Now." });
    expect(turn.response.status).toBe("completed");
    expect(sent()).toContain("You will need this.");
  });
});

describe("errors", () => {
  it("are events with the status and the code of HTTP, and the connection goes on", async () => {
    expect((await client.ask({ input: 7 })).last).toMatchObject({ type: "error", status: 400 });
    client.send("no JSON");
    expect((await client.turn()).last).toMatchObject({ status: 400 });
    client.send({ type: "response.steer" });
    expect((await client.turn()).last).toMatchObject({ status: 400, error: { code: "unknown_event", param: "type" } });
    for (const field of [{ stream_id: "a" }, { background: true }])
      expect((await client.ask({ ...field, input: "hi" })).last).toMatchObject({
        status: 400,
        error: { code: "not_over_websocket", param: Object.keys(field)[0] },
      });
    mixed.openai.on("*", fails(500));
    const away = await client.ask({ ...on("alpha"), input: "hi" });
    expect(away.last).toMatchObject({ status: 503, headers: { "retry-after": expect.any(String) } });
    mixed.openai.on("*", answers("fine"));
  });

  it("in the middle of a response are one end, and not two", async () => {
    mixed.openai.once("alpha-1", cutsBody);
    const { events, last } = await client.ask({ ...on("alpha"), input: "hi" });
    expect(["response.failed", "error"]).toContain(last.type);
    expect(events.filter(({ type }) => type === "error" || type === "response.failed")).toHaveLength(1);
    expect((await client.ask({ ...on("alpha"), input: "again" })).events.length).toBeGreaterThan(0);
  });

  it.each([
    ["a binary message", (socket: SocketClient["socket"]) => socket.send(Buffer.from("{}")), 1003],
    ["a message over the limit", (socket: SocketClient["socket"]) => socket.send("x".repeat(40 * 1024 * 1024)), 1009],
  ])("%s ends the connection", async (_, send, code) => {
    send(client.socket);
    expect(await client.closed).toBe(code);
  });
});

describe("a key", () => {
  it("that is wrong or missing is refused in the handshake", async () => {
    for (const key of ["sk-wrong", ""]) {
      const refused = await openSocket({ ...mixed.gateway, key }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ status: 401, body: expect.stringContaining("authentication_error") });
    }
  });

  it("that is revoked during the connection ends it with the next turn", async () => {
    const made = (await (await mixed.gateway.api("POST", "/api/keys", { name: "short" })).json()) as Record<
      string,
      string
    >;
    const short = await openSocket({ url: mixed.gateway.url, key: String(made.key) });
    expect((await short.ask({ input: "hi" })).response.status).toBe("completed");
    await mixed.gateway.api("DELETE", `/api/keys/${made.id}`);
    expect((await short.ask({ input: "hi" })).last).toMatchObject({ type: "error", status: 401 });
    expect(await short.closed).toBe(1001);
  });
});

describe("clients", () => {
  it("that hang up cancel the running turn, and are charged as over HTTP", async () => {
    const partly = streams([chunk("alpha-1", { content: "a few words" })], { ending: "hang" });
    mixed.openai.on("*", partly);
    const body = { ...on("alpha"), input: "Tell me a story." };
    const overHttp = await bank.spentBy(async () => {
      const leaving = new AbortController();
      const { gateway } = mixed;
      const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify({ ...body, stream: true }), signal: leaving.signal };
      const response = await fetch(`${gateway.url}/v1/responses`, init);
      const reader = response.body?.getReader();
      let read = "";
      while (!read.includes("a few words")) read += new TextDecoder().decode((await reader?.read())?.value);
      leaving.abort();
    });
    const spent = await bank.spentBy(async () => {
      client.send({ type: "response.create", ...body });
      await new Promise<void>((resolve) => {
        client.socket.on("message", (data) => void (String(data).includes("a few words") && resolve()));
      });
      client.socket.terminate();
    });
    expect(overHttp).toBeGreaterThan(0n);
    expect(spent).toBe(overHttp);
  });

  it("that ask for another protocol are answered as if they had not", async () => {
    const { port } = new URL(mixed.gateway.url);
    const socket = connect(Number(port), "127.0.0.1");
    const body = JSON.stringify({ ...on("alpha"), input: "hi" });
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n` +
        `authorization: Bearer ${mixed.gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    let read = "";
    socket.on("data", (piece) => {
      read += String(piece);
    });
    while (!read.includes('"completed"')) await once(socket, "data");
    expect(read).toMatch(/^HTTP\/1.1 200/);
    socket.write(
      `GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${mixed.gateway.key}\r\n\r\n`,
    );
    await once(socket, "close");
    expect(read).toContain('"object":"list"');
  });

  it("that ask for another protocol again and again leave nothing behind on their connection", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    const socket = connect(Number(new URL(mixed.gateway.url).port), "127.0.0.1");
    for (let each = 0; each < 25; each += 1) {
      socket.write(ASKS_ANEW);
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1.1 200/);
    }
    socket.destroy();
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });

  it("that ask for it a thousand times in one piece get one answer, and the process goes on", async () => {
    const socket = connect(Number(new URL(mixed.gateway.url).port), "127.0.0.1");
    let read = "";
    socket.on("data", (piece) => (read += String(piece)));
    socket.write(ASKS_ANEW.repeat(3_000));
    await once(socket, "close");
    expect(read.split("HTTP/1.1 200").length).toBe(2);
    expect((await fetch(`${mixed.gateway.url}/healthz`)).status).toBe(200);
  });

  it("find no WebSocket on other paths", async () => {
    const elsewhere = { url: `${mixed.gateway.url}/v1/models/x`, key: mixed.gateway.key };
    expect(await openSocket(elsewhere).catch((error: unknown) => error)).toMatchObject({ status: 404 });
  });

  it("of the official library hold a conversation", async () => {
    const openai = new OpenAI({ baseURL: `${mixed.gateway.url}/v1`, apiKey: mixed.gateway.key });
    const ws = new ResponsesWS(openai);
    let previous: string | null = null;
    for (const input of ["Remember jade.", "Which word?"]) {
      const done = new Promise<OpenAI.Responses.Response>((resolve, reject) => {
        ws.once("response.completed", ({ response }) => resolve(response));
        ws.once("error", reject);
      });
      ws.send({ type: "response.create", model: "auto", store: false, previous_response_id: previous, input });
      const { id, output } = await done;
      expect(output[0]?.type).toBe("message");
      previous = id;
    }
    expect(sent()).toContain("Remember jade.");
    ws.close();
  });
});

it("waits for nobody: a model that never answers ends with its client", async () => {
  mixed.openai.once("alpha-1", hangs);
  client.send({ type: "response.create", ...on("alpha"), input: "hi" });
  await expect.poll(() => mixed.openai.requests.length).toBeGreaterThan(0);
  expect(await client.close()).toBe(1005);
  await bank.atRest();
});
