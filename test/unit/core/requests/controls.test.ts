// Every row of the table of controls, wherever a control passes: a value that a client sends survives the request log,
// the commands that are copied from there and from the playground, the command line, and a profile.

import { expect, test, vi } from "vitest";
import { readArguments } from "../../../../src/cli/command/arguments.ts";
import { parseControl } from "../../../../src/cli/command/flags.ts";
import { NO_CONTROLS } from "../../../../src/core/decision.ts";
import { PROFILE_CONTROLS, REQUEST_CONTROLS, type Takes } from "../../../../src/core/requests/controls.ts";
import { summaryOf } from "../../../../src/core/requests/fields.ts";
import { readControls } from "../../../../src/formats/service/controls.ts";
import { readConstraints, writeProfile } from "../../../../src/http/api/profiles.ts";
import { readDetail, toDetail } from "../../../../src/store/requests/stored-record.ts";
import { writeCli } from "../../../../ui/kit/cli-text.ts";
import { chipsOf } from "../../../../ui/parts/profile-rules.ts";
import type { RequestDetail, Rules } from "../../../../ui/types.ts";
import { makeCatalog } from "../../../support/catalog.ts";
import { makeRecord } from "../../../support/stores/records.ts";

vi.stubGlobal("location", { pathname: "/requests", search: "", hash: "", origin: "http://here" });
vi.stubGlobal("history", { pushState() {}, replaceState() {} });
const { curlOf } = await import("../../../../ui/pages/requests/curl.ts");
const { chatBodyOf, draftFrom, playgroundHref } = await import("../../../../ui/parts/playground-draft.ts");

/** A value that nobody has without asking for it. */
function sampleOf(takes: Takes): unknown {
  switch (takes.kind) {
    case "choice":
      return takes.words.find((word) => word !== takes.unset && word !== "direct");
    case "quality":
      return 2;
    case "amount":
      return 0.25;
    case "number":
      return 70;
    case "text":
      return "my-session";
    case "switch":
    case "cascade":
      return true;
    case "names":
      return ["eu", "de"];
    case "list":
      return takes.words === null ? ["known"] : takes.words.slice(0, 2);
  }
}

const asked = Object.fromEntries(REQUEST_CONTROLS.map(({ field, takes }) => [field, sampleOf(takes)]));
const kept = REQUEST_CONTROLS.filter(({ isPrivate }) => isPrivate !== true);
const keptFields = Object.fromEntries(kept.map(({ field }) => [field, asked[field]]));

/** What the request log says of a request that asked for all of it, without its text. */
function logged(): RequestDetail {
  const record = makeRecord();
  const decision = { ...record.decision, controls: readControls({ ...asked, model: "auto" }) };
  const detail = toDetail({ ...record, decision } as typeof record);
  const read = readDetail(JSON.stringify(detail), summaryOf(record));
  return {
    route: "/v1/chat/completions",
    stream: false,
    content: null,
    model: "alpha",
    ...read,
  } as unknown as RequestDetail;
}

test("a request may set every control, alone or all at once", () => {
  const controls = readControls({ ...asked, model: "auto" });
  for (const { name, field } of REQUEST_CONTROLS) {
    expect(controls[name], name).toEqual(asked[field]);
    expect(controls[name], name).not.toEqual(NO_CONTROLS[name]);
  }
  expect(controls.unknown).toBeUndefined();
});

test("the request log keeps every control, but for the client's own text, so that a replay asks for it again", () => {
  const { controls } = logged().decision ?? {};
  for (const { name, field, isPrivate, takes } of REQUEST_CONTROLS) {
    expect(controls?.[name], name).toEqual(isPrivate ? takes.unset : asked[field]);
  }
  expect(kept.length).toBe(REQUEST_CONTROLS.length - 1);
});

test.each(kept.map((control) => [control.name, control]))(
  "the request log keeps %s alone",
  (name, { field, takes }) => {
    const record = makeRecord();
    const controls = { ...NO_CONTROLS, [name]: sampleOf(takes) };
    const detail = toDetail({ ...record, decision: { ...record.decision, controls } } as typeof record);
    const read = readDetail(JSON.stringify(detail), summaryOf(record));
    expect(read.decision?.controls?.[name], field).toEqual(sampleOf(takes));
  },
);

test("a request copied as curl asks for the same", () => {
  const body = / -d '(.*)'$/s.exec(curlOf(logged(), "http://here"))?.[1] ?? "";
  expect(JSON.parse(body)).toMatchObject(keptFields);
});

test("a request opened in the playground asks for the same, and so does the command copied from there", () => {
  const record = logged();
  const detail = { ...record, tier: asked.service_tier, decision: { ...record.decision, profile: "tier" } };
  const draft = draftFrom(playgroundHref(detail as RequestDetail).replace(/^.*#/, "#"));
  const body = { ...chatBodyOf(draft), messages: [{ role: "user", content: "Hi" }] };
  expect(body).toMatchObject(keptFields);
  const command = writeCli(body, { command: "switchyard route", profile: null, account: null });
  const { flags } = readArguments(command.replaceAll("\\\n", "").split(/\s+/).slice(1));
  for (const control of kept.filter(({ flag }) => flag !== undefined)) {
    expect(parseControl(flags[control.flag ?? ""] ?? "", control), control.name).toEqual(asked[control.field]);
  }
  expect(kept.filter(({ flag }) => flag === undefined).map(({ name }) => name)).toEqual(["profile"]);
});

test("a profile may have every rule, shows it, and says it in a word", () => {
  const rules = Object.fromEntries(PROFILE_CONTROLS.map(({ rule, takes }) => [rule, sampleOf(takes)]));
  const { models } = makeCatalog();
  const [id = ""] = models.keys();
  const body = { ...rules, allowedModels: [id], blockedModels: [id] };
  const constraints = readConstraints(body, makeCatalog());
  const times = { createdAtMs: 0, updatedAtMs: 0 };
  const profile = { id: "p", accountId: "a", name: "p", description: null, constraints, shadow: null, ...times };
  expect(writeProfile(profile)).toMatchObject({ ...body, maxCostUsd: "0.25" });
  for (const { rule } of PROFILE_CONTROLS) {
    const nothing = Object.fromEntries(PROFILE_CONTROLS.map(({ rule: each, takes }) => [each, takes.unset]));
    const chips = chipsOf({
      ...nothing,
      [rule]: (body as Readonly<Record<string, unknown>>)[rule],
    } as unknown as Rules);
    expect(chips, rule).not.toEqual(["No rules"]);
  }
});
