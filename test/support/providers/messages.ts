// A Messages client made of fetch: requests, streams as their events, and the shape every error must have.

import { expect } from "vitest";
import type { FakeEvent } from "./fake-anthropic.ts";
import type { Json } from "./streams.ts";

export const ASK = {
  model: "auto",
  max_tokens: 100,
  messages: [{ role: "user", content: "What is the capital of France?" }],
};

export const VERSION = { "anthropic-version": "2023-06-01" };

/** The events of a stream, checked: each is named by its type. */
export function eventsIn(stream: string): readonly FakeEvent[] {
  return stream
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [name = "", data = ""] = event.split("\n");
      const json = JSON.parse(data.slice("data: ".length)) as FakeEvent;
      expect(name).toBe(`event: ${json.type}`);
      return json;
    });
}

export async function readEvents(answer: Response): Promise<readonly FakeEvent[]> {
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  return eventsIn(await answer.text());
}

export function typesOf(events: readonly FakeEvent[]): readonly string[] {
  return events.map(({ type }) => type);
}

export function textIn(events: readonly FakeEvent[]): string {
  return events
    .map(({ delta }) => (delta as Json | undefined)?.text)
    .filter((piece) => typeof piece === "string")
    .join("");
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  404: "not_found_error",
  405: "invalid_request_error",
  409: "invalid_request_error",
  413: "invalid_request_error",
  415: "invalid_request_error",
  422: "invalid_request_error",
  429: "rate_limit_error",
  500: "api_error",
  503: "overloaded_error",
};

export interface MessagesError {
  readonly type: string;
  readonly message: string;
  readonly details?: { readonly error_code?: string };
}

/** Checks status, shape and ids of an error in Anthropic's form, and returns it for a closer look. */
export async function expectMessagesError(answer: Response, status: number, code?: string): Promise<MessagesError> {
  const text = await answer.text();
  expect({ status: answer.status, text }).toMatchObject({ status });
  expect(answer.headers.get("content-type")).toContain("application/json");
  const body = JSON.parse(text) as { type: string; error: MessagesError; request_id: string };
  expect(Object.keys(body)).toEqual(["type", "error", "request_id"]);
  expect(body.type).toBe("error");
  expect(body.error.type).toBe(TYPES[status]);
  expect(body.error.message.length).toBeGreaterThan(5);
  expect(body.error.message).not.toMatch(/\n|node_modules|\.ts\b|at .*:\d+/);
  expect(body.request_id).toBe(answer.headers.get("request-id"));
  expect(body.request_id).toBe(answer.headers.get("x-request-id"));
  if (code !== undefined) expect(body.error.details?.error_code).toBe(code);
  return body.error;
}
