// The editor of a profile, beside the replay of the last requests under the edited rules.

import { useState } from "preact/hooks";
import { PROFILE_CONTROLS } from "../../../src/core/requests/controls.ts";
import { call, useLoad } from "../../api.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { Check, TextField } from "../../kit/field.tsx";
import { PageHead, Section } from "../../kit/page.tsx";
import { Table } from "../../kit/table.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { Capabilities } from "../../parts/capabilities.tsx";
import { ControlFields } from "../../parts/control-fields.tsx";
import { type ControlTexts, ruleValue, textsOf } from "../../parts/control-values.ts";
import { Replay } from "../../parts/replay.tsx";
import { Shadow } from "../../parts/shadow.tsx";
import { secondAnswers } from "../../parts/text.ts";
import { go, hrefTo, useUnsaved } from "../../router.ts";
import type { List, Model, Profile, Rules } from "../../types.ts";
import { ProfileDeletion } from "./deletion.tsx";
import { ProfileKeys } from "./profile-keys.tsx";
import * as TEXT from "./text.ts";

/** Fields of a profile that the editor changes. */
interface Content extends Rules {
  readonly name: string;
  readonly description: string | null;
}

/** Changes are kept here until saved, and listed before that. Keys follow the saved rules within a second. */
export function ProfileEditor({ saved, start }: { readonly saved: Profile | null; readonly start: Content }) {
  const [content, setContent] = useState<Content>(start);
  const { problem, run } = useTask();
  const [isDeleting, setDeleting] = useState(false);
  const set = (change: Partial<Content>): void => setContent({ ...content, ...change });
  const changes = differences(start, content);
  const isNew = saved === null;
  useUnsaved(changes.length > 0);
  // The replay takes only the rules: a new name changes no route.
  const { name, description, ...rules } = content;
  const draft = isNew && !haveRulesChanged(start, content) ? null : { profile: rules };
  const save = (event: Event): void => {
    event.preventDefault();
    const method = isNew ? "POST" : "PUT";
    const path = isNew ? "/api/profiles" : `/api/profiles/${saved.id}`;
    void run(call<Profile>(method, path, { body: content }), (written) => {
      showToast(TEXT.savedProfile(written.name));
      // A new profile gets its own address; Back goes to the list, not to an empty form.
      go(hrefTo(`/profiles/${written.id}`), { replace: true, losesNothing: true });
    });
  };
  return (
    <>
      <PageHead title={isNew ? TEXT.createProfile : saved.name} purpose={TEXT.editorPurpose}>
        <ButtonLink href={hrefTo("/profiles")}>{TEXT.allProfiles}</ButtonLink>
        {!isNew && <Button onClick={() => setDeleting(true)}>{TEXT.deleteIt}</Button>}
      </PageHead>
      <form class="editor" onSubmit={save}>
        <div>
          <section class="card">
            <TextField
              label={TEXT.name}
              value={name}
              onInput={(text) => set({ name: text })}
              isRequired
              isFocused={isNew}
            />
            <TextField
              label={TEXT.description}
              value={description ?? ""}
              onInput={(text) => set({ description: text === "" ? null : text })}
              placeholder={TEXT.descriptionHint}
              maxLength={500}
            />
            <RuleFields rules={rules} set={set} />
          </section>
          {problem}
          {(isNew || changes.length > 0) && (
            <SaveBar isNew={isNew} changes={changes} canSave={name.trim() !== ""} onUndo={() => setContent(start)} />
          )}
        </div>
        <Replay path="/api/profiles/replay" draft={draft} />
      </form>
      {saved !== null && <OfSaved profile={saved} />}
      {isDeleting && saved !== null && <ProfileDeletion profile={saved} onClose={() => setDeleting(false)} />}
    </>
  );
}

/** The parts of a profile that have calls of their own. */
function OfSaved({ profile }: { readonly profile: Profile }) {
  return (
    <>
      <ProfileKeys profile={profile} />
      <Section title={secondAnswers}>
        <Shadow profile={profile} />
      </Section>
    </>
  );
}

function haveRulesChanged(start: Content, { name: _, description: __, ...rules }: Content): boolean {
  return differences(start, { ...start, ...rules }).length > 0;
}

interface SaveBarProps {
  readonly isNew: boolean;
  readonly changes: readonly string[];
  readonly canSave: boolean;
  readonly onUndo: () => void;
}

/** Names every change before it is saved, since keys follow a change at once. */
function SaveBar({ isNew, changes, canSave, onUndo }: SaveBarProps) {
  return (
    <div class="save-bar">
      <span class="grow faint">{isNew && changes.length > 0 ? TEXT.unsavedChanges : changes.join(" · ")}</span>
      {!isNew && <Button onClick={onUndo}>{TEXT.undo}</Button>}
      <Button kind="primary" type="submit" isDisabled={!canSave}>
        {TEXT.saveProfile}
      </Button>
    </div>
  );
}

/** The rules and how to change some of them. */
interface RuleFieldsProps {
  readonly rules: Rules;
  readonly set: (change: Partial<Rules>) => void;
}

/** One field per rule. */
function RuleFields({ rules, set }: RuleFieldsProps) {
  const texts = textsOf(({ rule = "" }) => fieldOf(rules, rule));
  const change = (next: ControlTexts): void => {
    const changed = PROFILE_CONTROLS.filter(({ name }) => (texts[name] ?? "") !== (next[name] ?? ""));
    set(Object.fromEntries(changed.map(({ name, rule, takes }) => [rule, ruleValue(takes, next[name] ?? "")])));
  };
  return (
    <>
      <ControlFields texts={texts} onChange={change} />
      <Capabilities
        legend={TEXT.requiredCapabilities}
        chosen={rules.capabilities}
        onChange={(capabilities) => set({ capabilities })}
      />
      <ModelLists rules={rules} set={set} />
      <fieldset>
        <legend>{TEXT.namedModels}</legend>
        <Check label={TEXT.honourModel} isOn={rules.honourModel} onChange={(honourModel) => set({ honourModel })} />
        <p class="hint">{TEXT.honourModelHint}</p>
      </fieldset>
    </>
  );
}

/** An empty list of allowed models means that all are allowed, and is saved as none. */
function ModelLists({ rules, set }: RuleFieldsProps) {
  const models = useLoad<List<Model>>("/api/models").data?.data ?? [];
  // Models in the order in which they were ticked.
  const toggled = (list: readonly string[], id: string, isOn: boolean): readonly string[] =>
    isOn ? [...list, id] : list.filter((each) => each !== id);
  const allowed = rules.allowedModels ?? [];
  return (
    <details open={rules.allowedModels !== null || rules.blockedModels.length > 0}>
      <summary>{TEXT.modelRules}</summary>
      <Table class="compact" caption={TEXT.modelRules} heads={[TEXT.model, TEXT.allowOnly, TEXT.block]}>
        {models.map(({ id }) => (
          <tr key={id}>
            <th scope="row">{id}</th>
            <td>
              <Check
                label={<span class="hidden">{TEXT.allowOnlyModel(id)}</span>}
                isOn={allowed.includes(id)}
                onChange={(isOn) => {
                  const next = toggled(allowed, id, isOn);
                  set({ allowedModels: next.length === 0 ? null : next });
                }}
              />
            </td>
            <td>
              <Check
                label={<span class="hidden">{TEXT.blockModel(id)}</span>}
                isOn={rules.blockedModels.includes(id)}
                onChange={(isOn) => set({ blockedModels: toggled(rules.blockedModels, id, isOn) })}
              />
            </td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

/** Every field by its name in a list of changes. */
const LABELS: readonly (readonly [field: string, label: string])[] = [
  ["name", TEXT.name],
  ["description", TEXT.description],
  ...PROFILE_CONTROLS.map(({ rule, label = rule }) => [rule, label] as const),
];

/** "Lowest tier: none → LIGHT", one for each field that differs. */
function differences(before: Content, after: Content): readonly string[] {
  return LABELS.filter(
    ([field]) => JSON.stringify(fieldOf(before, field)) !== JSON.stringify(fieldOf(after, field)),
  ).map(([field, label]) => `${label}: ${worded(fieldOf(before, field))} → ${worded(fieldOf(after, field))}`);
}

function fieldOf(content: object, field: string): unknown {
  return (content as Readonly<Record<string, unknown>>)[field];
}

/** Writes a value short enough for one line. */
function worded(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return "none";
  if (Array.isArray(value)) return value.length > 2 ? TEXT.selectedCount(value.length) : value.join(", ");
  if (typeof value === "boolean") return value ? "used" : "ignored";
  const text = String(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
