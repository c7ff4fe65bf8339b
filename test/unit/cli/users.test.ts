// switchyard users: who may sign in, and the way back in for the only operator.

import { describe, expect, it, onTestFinished } from "vitest";
import { users } from "../../../src/cli/access/users.ts";
import { type Arguments, readArguments } from "../../../src/cli/command/arguments.ts";
import type { Terminal } from "../../../src/cli/command/terminal.ts";
import { startGateway } from "../../support/gateway/gateway.ts";
import { setUpOperator, signIn, tokenIn, visit } from "../../support/gateway/signed-in.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";

type Command = (args: Arguments, terminal: Terminal) => Promise<number>;

async function run(command: Command, words: readonly string[], terminal = recordTerminal()) {
  const code = await command(readArguments(["users", ...words]), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

describe("users", () => {
  it("lets the only operator back in, beside a running server", async () => {
    const gateway = await startGateway({ database: "file" });
    onTestFinished(() => gateway.stop());
    const session = await setUpOperator(gateway, "ops@example.com");
    const terminal = recordTerminal({ env: { DATABASE_URL: gateway.database } });
    const made = await run(users, ["reset", " OPS@Example.com ", "--url", `${gateway.url}/`], terminal);
    expect(made).toMatchObject({ code: 0, said: expect.stringContaining("expires in a day") });
    expect(made.out.trim()).toMatch(new RegExp(`^${gateway.url}/#/reset\\?token=[\\w-]{43}$`));
    const body = { token: tokenIn(made.out.trim()), password: "a completely new secret 7" };
    expect((await visit(gateway).call("POST", "/api/password-reset", body)).status).toBe(201);
    expect((await session.call("GET", "/api/keys")).status).toBe(401);
    await signIn(gateway, "ops@example.com", "a completely new secret 7");

    const listed = await run(users, ["list"], terminal);
    expect(listed.out).toMatch(/ops@example\.com +operator +default/);
    const json = JSON.parse((await run(users, ["list", "--json"], terminal)).out) as { data: object[] };
    expect(json.data).toMatchObject([{ email: "ops@example.com", role: "operator" }]);
    expect(JSON.stringify(json)).not.toContain("scrypt");
    const printed = JSON.parse((await run(users, ["reset", "ops@example.com", "--json"], terminal)).out) as object;
    expect(printed).toEqual({
      email: "ops@example.com",
      link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8787\/#\/reset\?token=/),
      expiresAt: expect.any(String),
    });
  });

  it("says what to do where there is nobody", async () => {
    expect(await run(users, ["list"])).toMatchObject({ code: 0, out: "", said: expect.stringContaining("serve") });
    expect(await run(users, ["reset", "nobody@example.com"])).toEqual({
      code: 1,
      out: "",
      said: "No user 'nobody@example.com'. See: npm start -- users list\n",
    });
  });

  it.each([
    [[], "Use: "],
    [["rest"], "Did you mean 'reset'"],
    [["reset"], "needs the e-mail"],
    [["reset", "a@b.example", "c"], "Unexpected argument"],
    [["list", "all"], "Unexpected argument"],
    [["list", "--url", "http://x"], "Unknown flag '--url'"],
    [["reset", "a@b.example", "--url", "gateway"], "--url is where"],
  ])("%j is wrong usage", async (words, said) => {
    expect(await run(users, words)).toMatchObject({ code: 2, out: "", said: expect.stringContaining(said) });
  });

  it("an address that is none fails", async () => {
    expect(await run(users, ["reset", "ada"])).toMatchObject({ code: 1, said: expect.stringContaining("no e-mail") });
  });
});
