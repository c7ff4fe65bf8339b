// The pages of teams and members: a team is made, nested, bounded and deleted; a person is invited, moved and removed; and
// what other roles see.

import { beforeAll, describe, expect, test } from "vitest";
import { join, type Person } from "../support/gateway/signed-in.ts";
import { faultsOf } from "./axe.ts";
import { beyondWindow, hasBrowser, settled, startDashboard } from "./dashboard.ts";

describe.skipIf(!hasBrowser)("teams and members", () => {
  const { gateway, visit } = startDashboard({});
  const made = async (path: string, body: object): Promise<{ id: string; key: string }> => {
    const answer = await gateway().api("POST", path, body);
    expect(answer.status, await answer.clone().text()).toBe(201);
    return (await answer.json()) as { id: string; key: string };
  };
  const messages = [{ role: "user", content: "Hi" }];

  test("a team is created, put inside another, changed and deleted", async () => {
    const { page } = await visit("/teams");
    await page.getByText("No teams yet").waitFor();
    await page.getByRole("button", { name: "Create team" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Create team" });
    await dialog.getByLabel("Name").fill("Research");
    await dialog.getByLabel("Highest tier").selectOption("STANDARD");
    expect(await faultsOf(page, "light", "dialog[open]")).toEqual([]);
    await dialog.getByRole("button", { name: "Save team" }).click();
    await page.getByText("Team “Research” saved.").waitFor();
    await page.getByText("up to STANDARD").waitFor();
    await page.getByRole("button", { name: "Create team" }).first().click();
    await dialog.getByLabel("Name").fill("Search");
    await dialog.getByLabel("Part of").selectOption({ label: "Research" });
    await dialog.getByLabel("Allowed models").fill("no-such-model");
    await dialog.getByRole("button", { name: "Save team" }).click();
    await dialog.getByText("no-such-model").last().waitFor();
    await dialog.getByLabel("Allowed models").fill("");
    await dialog.getByRole("button", { name: "Save team" }).click();
    const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Research" }) });
    await card.getByRole("heading", { name: "Search", level: 3 }).waitFor();
    await page.getByRole("button", { name: "Edit Research" }).click();
    const edit = page.getByRole("dialog", { name: "Edit Research" });
    await edit.getByText("This team contains teams").waitFor();
    await edit.getByRole("button", { name: "Delete", exact: true }).click();
    await edit.getByRole("button", { name: "Delete for good" }).click();
    await edit.getByText("The team has active keys, members or teams inside.").waitFor();
  });

  test("a person is invited into a team, changes role, and is deleted", async () => {
    const team = await made("/api/teams", { name: "Ads" });
    await join(gateway(), { email: "grace@example.com", role: "member", teams: [team.id] });
    const { page } = await visit("/members");
    const row = page.getByRole("row").filter({ hasText: "grace@example.com" });
    await row.getByText("Ads").waitFor();
    await page.getByRole("button", { name: "Invite user" }).click();
    const invite = page.getByRole("dialog", { name: "Invite user" });
    await invite.getByLabel("E-mail").fill("new@example.com");
    await invite.getByLabel("Ads", { exact: true }).check();
    await invite.getByRole("button", { name: "Create invite link" }).click();
    await invite.getByText("Send this link.").waitFor();
    await invite.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Withdraw invitation for new@example.com" }).waitFor();
    await page.getByRole("button", { name: "Edit grace@example.com" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit grace@example.com" });
    await dialog.getByLabel("Role").selectOption("viewer");
    await dialog.getByLabel("Ads").uncheck();
    expect(await faultsOf(page, "light", "dialog[open]")).toEqual([]);
    await dialog.getByRole("button", { name: "Save" }).click();
    await row.getByText("Viewer").waitFor();
    await page.getByRole("button", { name: "Edit grace@example.com" }).click();
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await dialog.getByRole("button", { name: "Delete for good" }).click();
    await row.waitFor({ state: "detached" });
  });

  test("a key is given to a team and a member in its form, and found by them", async () => {
    await made("/api/teams", { name: "Support" });
    await join(gateway(), { email: "ada@example.com", role: "member" });
    const { page } = await visit("/keys?new=1");
    const dialog = page.getByRole("dialog", { name: "Create key" });
    await dialog.getByLabel("Name").fill("help desk");
    await dialog.getByLabel("Team").selectOption({ label: "Support" });
    await dialog.getByLabel("Belongs to").selectOption({ label: "ada@example.com" });
    await dialog.getByRole("button", { name: "Create key" }).click();
    await page.getByText("You won't see this key again.").first().waitFor();
    const list = await visit("/keys");
    await list.page.getByLabel("Team", { exact: true }).selectOption({ label: "Support" });
    await list.page.getByRole("link", { name: "help desk" }).waitFor();
    await list.page.getByLabel("Belongs to").selectOption({ label: "ops@example.com" });
    await list.page.getByText("No keys match").waitFor();
  });

  describe("with traffic", () => {
    let viewer: Person;
    beforeAll(async () => {
      const outer = await made("/api/teams", {
        name: "The whole of the department of research and development",
        tierCeiling: "COMPLEX",
      });
      const inner = await made("/api/teams", { name: "Evaluations", parent: outer.id });
      await made("/api/budgets", { name: "Each team", scope: "team", amountUsd: "1", period: "month" });
      const email = "somebody-with-a-rather-long-name@subsidiary.example.com";
      await join(gateway(), { email, role: "member", teams: [inner.id, outer.id] });
      const { data } = (await (await gateway().api("GET", "/api/users?limit=1")).json()) as { data: { id: string }[] };
      const { key } = await made("/api/keys", { name: "evaluations", team: inner.id, member: data[0]?.id });
      const answer = await gateway().post(
        "/v1/chat/completions",
        { model: "auto", messages },
        { authorization: `Bearer ${key}` },
      );
      expect(answer.status).toBe(200);
      viewer = await join(gateway(), { email: "viewer@example.com", role: "viewer" });
    });

    test.each([1440, 390])("both pages fit a window of %s pixels and have no faults", async (width) => {
      for (const path of ["/teams", "/members"]) {
        // Tall, so that no bar covers what axe looks at.
        const { page } = await visit(path, { viewport: { width, height: 3_000 } });
        if (path === "/teams") {
          await page
            .getByRole("img", { name: /^Each team, Evaluations: \$0\.\d+ of \$1\.00 spent$/ })
            .first()
            .waitFor();
          await page
            .getByText(/\$0\.\d+ this month/)
            .first()
            .waitFor();
        } else {
          await page.getByRole("rowheader", { name: /^somebody-with/ }).waitFor();
          await page
            .getByRole("link", { name: /^\$0\.\d+$/ })
            .first()
            .waitFor();
        }
        await settled(page);
        expect(await beyondWindow(page)).toBe(0);
        for (const theme of ["light", "dark"] as const) expect(await faultsOf(page, theme)).toEqual([]);
      }
    });

    test("an admin of another account sees neither these teams nor these people", async () => {
      const account = await made("/api/accounts", { name: "Elsewhere" });
      const admin = await join(gateway(), { email: "admin@elsewhere.example", role: "admin", accountId: account.id });
      const { page, context } = await visit("/docs", { isSignedIn: false });
      await context.addCookies([{ name: "switchyard_session", value: admin.cookie ?? "", url: gateway().url }]);
      for (const query of ["", "?account=default"]) {
        await page.goto(`${gateway().url}/teams${query}`);
        await settled(page);
        expect(await page.getByText("Evaluations").count()).toBe(0);
        await page.goto(`${gateway().url}/members${query}`);
        await settled(page);
        expect(await page.getByText(/@(?:subsidiary\.)?example\.com/).count()).toBe(0);
      }
    });

    test("a viewer reads teams and budgets, and neither changes them nor sees members", async () => {
      const cookies = [{ name: "switchyard_session", value: viewer.cookie ?? "", url: gateway().url }];
      const { page, context } = await visit("/docs", { isSignedIn: false });
      await context.addCookies(cookies);
      await page.goto(`${gateway().url}/teams`);
      await page.getByRole("heading", { name: "Evaluations" }).waitFor();
      expect(await page.getByRole("button", { name: "Create team" }).count()).toBe(0);
      expect(await page.getByRole("button", { name: /^Edit / }).count()).toBe(0);
      expect(await page.getByRole("link", { name: "Members" }).count()).toBe(0);
      await page.goto(`${gateway().url}/teams?new=1`);
      await page.getByRole("heading", { name: "Evaluations" }).waitFor();
      expect(await page.getByRole("dialog").count()).toBe(0);
      await page.goto(`${gateway().url}/budgets`);
      await page.getByRole("heading", { name: "Each team" }).waitFor();
      expect(await page.getByRole("button", { name: "Set budget" }).count()).toBe(0);
      await page.goto(`${gateway().url}/members`);
      await page.getByText("grace@example.com").waitFor({ state: "detached" });
      expect(await page.getByRole("row").count()).toBe(0);
    });
  });
});
