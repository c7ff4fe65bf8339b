// Signs in the calls of a task: what a failing check, a poll and a search look like, and when the tier moves.

import { describe, expect, it } from "vitest";
import { type ChatMessage, withUnread } from "../../../../src/core/chat.ts";
import type { EscalationPolicy, SessionTurn } from "../../../../src/core/session.ts";
import { newestAsk } from "../../../../src/routing/ask.ts";
import { readCheck } from "../../../../src/routing/sessions/checks.ts";
import { findEscalation } from "../../../../src/routing/sessions/evidence.ts";
import { MORE_OUTPUTS, OUTPUTS, UNSEEN_OUTPUTS } from "./outputs.ts";

const ask: ChatMessage = { role: "user", content: "Make the tests pass" };
let made = 0;
const step = (name: string, args: object, result: string): readonly ChatMessage[] => {
  made += 1;
  const id = `call_${made}`;
  const call = { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  return [
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: id, content: result },
  ];
};
const edit = (run: number) =>
  step("edit_file", { path: "src/cart.ts", old: `a${run}`, new: `b${run}` }, "The file was updated.");
const bash = (command: string, result: string) => step("bash", { command }, result);

/** Edits and runs in turn, with so many failures each. */
function runs(command: string, failing: readonly number[], output = ALL[command]): readonly ChatMessage[] {
  return failing.flatMap((count, run) => [...edit(run), ...bash(command, output?.(count, run) ?? "")]);
}

const ALL = { ...OUTPUTS, ...MORE_OUTPUTS, ...UNSEEN_OUTPUTS };

function escalation(
  steps: readonly ChatMessage[],
  { policy = "normal", last = null }: { policy?: EscalationPolicy; last?: SessionTurn | null } = {},
) {
  const messages = [ask, ...steps];
  return findEscalation({ messages, ask: newestAsk(messages), policy, isFollowUp: false, last });
}

describe.each(Object.keys(ALL))("%s", (command) => {
  it("raises the tier when it fails three times, and names it", () => {
    const { tiers, because } = escalation(runs(command, [2, 2, 2]));
    expect(tiers).toBe(1);
    expect(because).toEqual([expect.stringMatching(/still fails after a change \(\d+ failures?\)$/)]);
    expect(escalation(runs(command, [2, 2, 2, 2, 2, 2])).tiers).toBe(2);
    expect(escalation(runs(command, [2, 2]), { policy: "eager" }).tiers).toBe(1);
  });

  it("raises nothing when it fails once, twice, or passes in the end", () => {
    expect(escalation(runs(command, [2])).tiers).toBe(0);
    expect(escalation(runs(command, [2, 2])).tiers).toBe(0);
    if (ALL[command]?.(0, 1) !== "" && readCheck(ALL[command]?.(0, 1) ?? "") !== null) {
      expect(escalation(runs(command, [2, 2, 2, 0])).tiers).toBe(0);
      expect(escalation(runs(command, [0, 0, 0, 0])).tiers).toBe(0);
    }
  });
});

describe("a check", () => {
  it("counts only while it makes no progress", () => {
    expect(escalation(runs("npx jest", [5, 4, 3, 2, 1])).tiers).toBe(0);
    expect(escalation(runs("npx jest", [2, 3, 4])).tiers).toBe(1);
    expect(escalation(runs("npx jest", [3, 2, 2])).tiers).toBe(1);
  });

  it("is read again where the same call at the same place gives a result that differs only in the middle", () => {
    const jest = (failing: number): string => `${"-".repeat(30)}\nTests: ${failing} failed, 9 total\n${"-".repeat(30)}`;
    expect(escalation(runs("npx jest", [5, 4, 3], jest)).tiers).toBe(0);
    expect(escalation(runs("npx jest", [5, 6, 7], jest)).because).toEqual([expect.stringContaining("(7 failures)")]);
  });

  it("does not count when it is run again with no change in between", () => {
    const again = (run: number) => bash("npx jest", OUTPUTS["npx jest"]?.(2, run) ?? "");
    expect(escalation([...edit(1), ...again(1), ...again(2), ...again(3), ...again(4)]).tiers).toBe(0);
  });

  it("is found in results that were left in the body, and inside JSON", () => {
    const left = (message: ChatMessage): ChatMessage => {
      if (message.role !== "tool") return message;
      const bytes = Buffer.from(JSON.stringify(message.content));
      return withUnread(message, { bytes, start: 0, end: bytes.length, name: "content", isUsual: true });
    };
    expect(escalation(runs("pytest -q", [2, 2, 2]).map(left)).tiers).toBe(1);
    const inJson = (failing: number, run: number) =>
      JSON.stringify({ stdout: OUTPUTS["go test ./..."]?.(failing, run), exit_code: 1 });
    expect(escalation(runs("go test ./...", [1, 1, 1], inJson)).tiers).toBe(1);
  });

  it("brings the tier down again when it passes", () => {
    const raised = { escalation: 1, task: escalation(runs("npx jest", [2])).task } as SessionTurn;
    expect(escalation(runs("npx jest", [2, 2]), { last: raised }).tiers).toBe(1);
    expect(escalation(runs("npx jest", [2, 2, 0]), { last: raised }).tiers).toBe(0);
    expect(escalation(runs("npx tsc --noEmit", [2, 2, 0]), { last: raised }).tiers).toBe(0);
  });

  it("needs one sign where the human goes on", () => {
    const messages: ChatMessage[] = [
      ask,
      ...runs("npx jest", [2, 2]),
      { role: "assistant", content: "I could not fix it." },
      { role: "user", content: "go on" },
    ];
    const question = { messages, ask: newestAsk(messages), policy: "normal", last: null } as const;
    expect(findEscalation({ ...question, isFollowUp: true })).toMatchObject({
      tiers: 1,
      because: ["jest still fails after a change (2 failures)"],
    });
    expect(findEscalation({ ...question, isFollowUp: false }).tiers).toBe(0);
  });
});

const CLEAN =
  "On branch main\nYour branch is up to date with 'origin/main'.\n\nnothing to commit, working tree clean\n";
const times = (count: number, make: (at: number) => readonly ChatMessage[]) =>
  Array.from({ length: count }, (_, at) => make(at)).flat();

describe("no sign is", () => {
  it.each<readonly [string, readonly ChatMessage[]]>([
    ["git status again and again", times(4, () => bash("git status", CLEAN))],
    ["git status in a folder, cut", times(4, () => bash("cd /app && git status --short | head -20", ""))],
    ["a file read again", times(4, () => step("read_file", { path: "src/a.ts" }, "export const a = 1;"))],
    ["a file shown again", times(4, () => bash("cat src/a.ts", "throw new Error('failed')"))],
    [
      "a view of an editor tool",
      times(3, () => step("str_replace_based_edit_tool", { command: "view", path: "a" }, "1\ta")),
    ],
    ["a job that runs on", times(5, () => step("get_job_status", { id: "j1" }, '{"status":"running"}'))],
    ["a deployment that is waited for", times(4, () => bash("sleep 10; kubectl get pods", "web 0/1 Pending"))],
    ["a process that is looked at", times(4, () => step("BashOutput", { bash_id: "1" }, ""))],
    ["searches without a match", times(4, (at) => step("Grep", { pattern: `foo${at}` }, "No matches found"))],
    ["searches that end with 1", times(4, (at) => bash(`grep -rn foo${at} src`, "Command failed with exit code 1"))],
    ["the same search", times(4, () => bash("rg -n 'parse\\(' src | head", "Exit code: 1"))],
    ["a log that is followed", times(4, () => bash("docker logs web --tail 5", "ERROR db away\nFAIL 3 failed"))],
    [
      "pages that are fetched",
      times(3, () => step("web_fetch", { url: "https://a.example" }, "Tests: 3 failed, 3 total")),
    ],
    ["tests that pass each time", runs("pytest -q", [0, 0, 0, 0])],
    ["a first failing test", [...bash("npx jest", OUTPUTS["npx jest"]?.(3, 1) ?? ""), ...edit(1)]],
    ["a list that stays", times(3, () => step("mcp__github__list_issues", { repo: "a" }, "[]"))],
    ["a diff", times(3, () => bash("git diff --stat", " a.ts | 2 +-"))],
    [
      "a retry that works",
      [...bash("npm ci", "npm error code ECONNRESET"), ...bash("npm ci", "added 3 packages in 1s")],
    ],
  ])("%s", (_name, steps) => {
    expect(escalation(steps).tiers).toBe(0);
    expect(escalation(steps, { policy: "eager" }).tiers).toBe(0);
  });

  it("but calls that change something and are made again are", () => {
    const post = () => step("create_issue", { title: "a" }, '{"error":"title taken"}');
    expect(escalation(times(3, post))).toMatchObject({ tiers: 1, because: ["3 tool calls failed in a row"] });
    const write = () => step("write_file", { path: "a", text: "b" }, "ok");
    expect(escalation(times(3, write))).toMatchObject({ tiers: 1, because: ["the same tool call was repeated"] });
  });
});
