// A database that goes away while the dashboard is open: what was shown stays, and the page recovers by itself.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTcpProxy, type TcpProxy } from "../support/network/tcp-proxy.ts";
import { createTestDatabase } from "../support/stores/postgres.ts";
import { hasBrowser, startDashboard } from "./dashboard.ts";

const database = hasBrowser ? await createTestDatabase() : null;

describe.skipIf(database === null)("a database that is down", () => {
  let proxy: TcpProxy;
  const options = { database: "", creditsUsd: "5" };
  beforeAll(async () => {
    proxy = await startTcpProxy((database as { url: string }).url);
    options.database = proxy.url;
  });
  const { visit } = startDashboard(options);
  afterAll(async () => {
    await proxy.close();
    await database?.drop();
  });

  test("keeps what was shown with a notice, signs nobody out, and recovers by itself", async () => {
    const { page, troubles } = await visit("/credits");
    await page.locator(".ledger tbody tr").first().waitFor();
    await proxy.goAway();
    await page
      .getByText(/Last updated .* UTC/)
      .first()
      .waitFor();
    expect(await page.locator(".ledger tbody tr").count()).toBeGreaterThan(0);
    await page.getByRole("heading", { level: 1, name: "Credits" }).waitFor();
    await proxy.comeBack();
    await page
      .getByText(/Last updated .* UTC/)
      .first()
      .waitFor({ state: "detached" });
    expect(troubles).toEqual([]);
  });
});
