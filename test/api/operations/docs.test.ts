// GET /docs: the contract as a page, without script, under the strict policy.

import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATIONS } from "../../../src/http/pages/openapi.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test("names every operation of the contract and runs no script", async () => {
  const answer = await fetch(`${gateway.url}/docs`);
  const page = await answer.text();
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.headers.get("content-security-policy")).toContain("script-src 'self'");
  for (const { id } of OPERATIONS) expect(page).toContain(`id="${id}"`);
  expect(page).not.toMatch(/<script|style="/);
});

test("its style is a file of its own", async () => {
  const answer = await fetch(`${gateway.url}/docs.css`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/css; charset=utf-8");
});
