// switchyard teams and members: groups and people, beside a running server.

import { describe, expect, it, onTestFinished } from "vitest";
import { members } from "../../../src/cli/access/members.ts";
import { teams } from "../../../src/cli/access/teams.ts";
import { type Arguments, readArguments } from "../../../src/cli/command/arguments.ts";
import type { Terminal } from "../../../src/cli/command/terminal.ts";
import { keys } from "../../../src/cli/keys.ts";
import { startGateway } from "../../support/gateway/gateway.ts";
import { setUpOperator, signIn, tokenIn, visit } from "../../support/gateway/signed-in.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";

const COMMANDS: Readonly<Record<string, (args: Arguments, terminal: Terminal) => Promise<number>>> = {
  teams,
  members,
  keys,
};

async function run(line: string, terminal = recordTerminal()) {
  const words = line.split(" ");
  const code = await COMMANDS[words[0] ?? ""]?.(readArguments(words), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

async function startBeside() {
  const gateway = await startGateway({ database: "file" });
  onTestFinished(() => gateway.stop());
  return { gateway, terminal: recordTerminal({ env: { DATABASE_URL: gateway.database } }) };
}

describe("teams", () => {
  it("are created, moved, bound and deleted by name", async () => {
    const { gateway, terminal } = await startBeside();
    const admin = await setUpOperator(gateway, "ops@example.com");
    await run("teams create --name search --ceiling LIGHT", terminal);
    const made = await run("teams create --name ranking --parent search --allow gpt-4o-mini --json", terminal);
    const ranking = JSON.parse(made.out) as { id: string; parent: string };
    const key = JSON.parse((await run("keys create --name app --team ranking --json", terminal)).out) as { id: string };
    expect((await run("teams list", terminal)).out).toMatch(/ranking +search +- +- +gpt-4o-mini +1/);
    const deleted = await run("teams delete ranking --yes", terminal);
    expect(deleted).toMatchObject({ code: 1, said: expect.stringContaining("Move or remove them first") });
    await run(`keys set ${key.id} --team search`, terminal);
    expect(await run("teams set ranking --name rank --parent none --allow none", terminal)).toMatchObject({ code: 0 });
    const read = (await (await admin.call("GET", `/api/teams/${ranking.id}`)).json()) as object;
    expect(read).toMatchObject({ name: "rank", parent: null, allowedModels: null });
    expect(await run("teams delete rank --yes", terminal)).toMatchObject({ code: 0 });
    expect((await admin.call("GET", `/api/teams/${ranking.id}`)).status).toBe(404);
    const audit = (await (await admin.call("GET", "/api/audit?limit=3")).json()) as { data: { action: string }[] };
    expect(audit.data[0]?.action).toBe("teams delete");
  });

  it("refuse what would never match, and a third level", async () => {
    const { terminal } = await startBeside();
    await run("teams create --name a", terminal);
    await run("teams create --name b --parent a", terminal);
    expect((await run("teams create --name c --parent b", terminal)).said).toContain("Teams nest once");
    expect((await run("teams set a --allow gpt-4o-mni", terminal)).said).toContain("Unknown model");
    expect((await run("teams set a --parent nobody", terminal)).said).toContain("no such parent team");
    expect((await run("teams set other --name x", terminal)).said).toContain("No team 'other'");
  });

  it.each([
    ["teams create search", "--name search"],
    ["teams set", "name or id of a team"],
    ["teams set search", "--ceiling"],
    ["teams set search --ceiling HIGH", "--ceiling"],
    ["teams delete", "name or id of a team"],
  ])("%s is wrong usage", async (line, said) => {
    expect(await run(line)).toMatchObject({ code: 2, said: expect.stringContaining(said) });
  });
});

describe("members", () => {
  it("are invited into teams, changed and removed with their keys", async () => {
    const { gateway, terminal } = await startBeside();
    const admin = await setUpOperator(gateway, "ops@example.com");
    await run("teams create --name search", terminal);
    const invited = await run(`members invite Ada@Example.com --teams search --url ${gateway.url}`, terminal);
    expect(invited).toMatchObject({ code: 0, said: expect.stringContaining("member of default") });
    expect((await run("members list", terminal)).out).toMatch(/ada@example\.com +member +default +search +invited/);
    const password = "a completely new secret 7";
    const token = tokenIn(invited.out.trim());
    expect((await visit(gateway).call("POST", "/api/invitations/accept", { token, password })).status).toBe(201);
    const ada = await signIn(gateway, "ada@example.com", password);
    const made = (await (await ada.call("POST", "/api/keys", { name: "own" })).json()) as { id: string };

    await run("members set ada@example.com --role viewer --teams none", terminal);
    const shown = JSON.parse((await run("members list --json", terminal)).out) as { data: object[] };
    expect(shown.data).toContainEqual(expect.objectContaining({ email: "ada@example.com", role: "viewer", teams: [] }));
    expect(await run("members remove ada@example.com --yes", terminal)).toMatchObject({ code: 0 });
    expect((await ada.call("GET", "/api/keys")).status).toBe(401);
    const key = (await (await admin.call("GET", `/api/keys/${made.id}`)).json()) as { status: string };
    expect(key.status).toBe("revoked");
  });

  it("keep the last operator, and end an invitation without a question", async () => {
    const { gateway, terminal } = await startBeside();
    await setUpOperator(gateway, "ops@example.com");
    const removed = await run("members remove ops@example.com --yes", terminal);
    expect(removed).toMatchObject({ code: 1, said: expect.stringContaining("last operator") });
    const demoted = await run("members set ops@example.com --role viewer", terminal);
    expect(demoted).toMatchObject({ code: 1, said: expect.stringContaining("last operator") });
    await run("members invite eve@example.com --role viewer", terminal);
    expect((await run("members remove eve@example.com", terminal)).said).toContain("Withdrew");
    expect((await run("members remove eve@example.com", terminal)).said).toContain("Nobody with the address");
    const elsewhere = await run("members invite eve@example.com --teams nobody", terminal);
    expect(elsewhere).toMatchObject({ code: 2, said: expect.stringContaining("No team 'nobody'") });
  });

  it.each([
    ["members invite", "e-mail address"],
    ["members set ada@example.com", "--role, --teams"],
    ["members set ada@example.com --role king", "--role"],
    ["members invite ada@example.com --url x", "--url"],
  ])("%s is wrong usage", async (line, said) => {
    expect(await run(line)).toMatchObject({ code: 2, said: expect.stringContaining(said) });
  });
});
