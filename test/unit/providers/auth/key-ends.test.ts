// Keys that tell when they end, and those whose operator says so.

import { expect, test } from "vitest";
import { keyEndsOf } from "../../../../src/providers/auth/key-ends.ts";
import { createRegistry } from "../../../../src/providers/registry.ts";
import { makeProvider } from "../../../support/catalog.ts";

/** As AWS's own generators of tokens write it. */
const signed = (query: string): string =>
  `bedrock-api-key-${Buffer.from(`bedrock.amazonaws.com/?Action=CallWithBearerToken&${query}&Version=1`).toString("base64")}`;
const token = (claims: object): string =>
  ["{}", JSON.stringify(claims), "sig"].map((part) => Buffer.from(part).toString("base64url")).join(".");
const DAY = Date.UTC(2026, 10, 20);

test.each([
  ["a short-term key of Bedrock", signed("X-Amz-Date=20261119T120000Z&X-Amz-Expires=43200"), DAY],
  ["one without its length", signed("X-Amz-Date=20261119T120000Z"), null],
  ["one whose day does not exist", signed("X-Amz-Date=20261399T990000Z&X-Amz-Expires=43200"), null],
  ["a long-term key of Bedrock", "ABSKQmVkcm9ja0FQSUtleS1hYmM=", null],
  ["a token with its end", token({ exp: DAY / 1000 }).replace(/^\w+/, "eyJhbGciOiJub25lIn0"), DAY],
  ["a token without one", token({ sub: "a" }).replace(/^\w+/, "eyJhbGciOiJub25lIn0"), null],
  ["a token with another end", token({ exp: "soon" }).replace(/^\w+/, "eyJhbGciOiJub25lIn0"), null],
  ["a plain key", "sk-proj-0123456789", null],
])("%s", (_, apiKey, endsAtMs) => {
  expect(keyEndsOf({ apiKey })).toEqual(endsAtMs === null ? [] : [{ id: "", endsAtMs }]);
});

test("the operator's word counts, and a connection tells the soonest end of several keys", async () => {
  const keys = [
    { id: "a", key: "sk-a", weight: 1, endsAtMs: DAY + 1 },
    { id: "b", key: "sk-b", weight: 1, endsAtMs: DAY },
    { id: "c", key: "sk-c", weight: 1 },
  ] as const;
  const provider = makeProvider({ transport: "network", apiKey: "sk-a", apiKeys: keys });
  const registry = createRegistry(new Map([[provider.id, provider]]));
  const connection = registry.connection(provider.id);
  expect(connection.keyEnds()).toEqual([
    { id: "a", endsAtMs: DAY + 1 },
    { id: "b", endsAtMs: DAY },
  ]);
  expect(connection.signIn()).toEqual({ identity: null, expiresAtMs: DAY, problem: null, isRenewed: false });
  await registry.close();
});
