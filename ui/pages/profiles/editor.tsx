// The editor of a profile, beside the replay of the last requests under the edited rules.

import { useState } from "preact/hooks";
import { CAPABILITIES, type Capability } from "../../../src/core/model.ts";
import { type ApiError, call, useLoad } from "../../api.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { Check, TextField } from "../../kit/field.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Problem } from "../../kit/states.tsx";
import { TierRange } from "../../kit/tier-range.tsx";
import { showToast } from "../../kit/toast.tsx";
import { Quality } from "../../parts/quality.tsx";
import { go, hrefTo } from "../../router.ts";
import type { List, Model, Profile, Rules } from "../../types.ts";
import { ProfileDeletion } from "./deletion.tsx";
import { Replay } from "./replay.tsx";

/** What is edited. */
interface Content extends Rules {
  readonly name: string;
  readonly description: string | null;
}

/** Changes are kept here until saved, and listed before that. Keys follow the saved rules within a second. */
export function ProfileEditor({ saved, start }: { readonly saved: Profile | null; readonly start: Content }) {
  const [content, setContent] = useState<Content>(start);
  const [error, setError] = useState<ApiError | null>(null);
  const [isDeleting, setDeleting] = useState(false);
  const set = (change: Partial<Content>): void => setContent({ ...content, ...change });
  const changes = differences(start, content);
  const isNew = saved === null;
  // The replay takes only the rules: a new name changes no route.
  const { name, description, ...rules } = content;
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const method = isNew ? "POST" : "PUT";
      const written = await call<Profile>(method, isNew ? "/api/profiles" : `/api/profiles/${saved.id}`, {
        body: content,
      });
      showToast(`“${written.name}” saved. Its keys follow within a second.`);
      // A new profile gets its own address; Back goes to the list, not to an empty form.
      go(hrefTo(`/profiles/${written.id}`), { replace: true });
    } catch (problem) {
      setError(problem as ApiError);
    }
  };
  return (
    <>
      <PageHead title={isNew ? "Create profile" : saved.name} purpose="Applies to every request from its keys.">
        <ButtonLink href={hrefTo("/profiles")}>All profiles</ButtonLink>
        {!isNew && <Button onClick={() => setDeleting(true)}>Delete</Button>}
      </PageHead>
      <form class="editor" onSubmit={save}>
        <div>
          <section class="card">
            <TextField label="Name" value={name} onInput={(text) => set({ name: text })} isRequired isFocused={isNew} />
            <TextField
              label="Description"
              value={description ?? ""}
              onInput={(text) => set({ description: text === "" ? null : text })}
              placeholder="What is it for?"
              maxLength={500}
            />
            <RuleFields rules={rules} set={set} />
          </section>
          <Problem error={error} />
          {(isNew || changes.length > 0) && (
            <SaveBar isNew={isNew} changes={changes} canSave={name.trim() !== ""} onUndo={() => setContent(start)} />
          )}
        </div>
        <Replay rules={rules} />
      </form>
      {isDeleting && saved !== null && <ProfileDeletion profile={saved} onClose={() => setDeleting(false)} />}
    </>
  );
}

/** What would be saved. */
interface SaveBarProps {
  readonly isNew: boolean;
  readonly changes: readonly string[];
  readonly canSave: boolean;
  readonly onUndo: () => void;
}

/** Names every change before it is saved, since keys follow it at once. */
function SaveBar({ isNew, changes, canSave, onUndo }: SaveBarProps) {
  return (
    <div class="save-bar">
      <span class="grow faint">{isNew ? "Unsaved changes" : changes.join(" · ")}</span>
      {!isNew && <Button onClick={onUndo}>Undo</Button>}
      <Button kind="primary" type="submit" isDisabled={!canSave}>
        Save profile
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
  const quality = (value: number | null): string => (value === null ? "" : String(value));
  return (
    <>
      <TierRange
        floor={rules.tierFloor}
        ceiling={rules.tierCeiling}
        onChange={(tierFloor, tierCeiling) => set({ tierFloor, tierCeiling })}
      />
      <div class="pair">
        <Quality
          label="Code"
          value={quality(rules.codeQuality)}
          onChange={(value) => set({ codeQuality: numberOrNull(value) })}
        />
        <Quality
          label="Chat"
          value={quality(rules.chatQuality)}
          onChange={(value) => set({ chatQuality: numberOrNull(value) })}
        />
      </div>
      <LimitFields rules={rules} set={set} />
      <CapabilityFields rules={rules} set={set} />
      <ModelLists rules={rules} set={set} />
    </>
  );
}

/** The cost stays text: the gateway reads decimal text, and a number here would round it. */
function LimitFields({ rules, set }: RuleFieldsProps) {
  return (
    <div class="pair">
      <TextField
        label="Max cost per request, USD"
        type="number"
        step="any"
        min="0"
        value={rules.maxCostUsd ?? ""}
        onInput={(text) => set({ maxCostUsd: text.trim() === "" ? null : text.trim() })}
        placeholder="none"
      />
      <TextField
        label="Min BFCL score"
        type="number"
        min="0"
        max="100"
        step="any"
        value={rules.bfclMin === null ? "" : String(rules.bfclMin)}
        onInput={(text) => set({ bfclMin: numberOrNull(text) })}
        placeholder="none"
      />
    </div>
  );
}

/** Capabilities keep the order of the catalogue, so that ticking one and unticking it again is no change. */
function CapabilityFields({ rules, set }: RuleFieldsProps) {
  const withChoice = (chosen: Capability, isOn: boolean): readonly Capability[] =>
    CAPABILITIES.filter((each) => (each === chosen ? isOn : rules.capabilities.includes(each)));
  return (
    <fieldset>
      <legend>Required capabilities</legend>
      <div class="row wrap">
        {CAPABILITIES.map((capability) => (
          <Check
            key={capability}
            label={capability}
            isOn={rules.capabilities.includes(capability)}
            onChange={(isOn) => set({ capabilities: withChoice(capability, isOn) })}
          />
        ))}
      </div>
    </fieldset>
  );
}

/** An empty field is no rule. */
function numberOrNull(text: string): number | null {
  return text.trim() === "" ? null : Number(text);
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
      <summary>Allowed and blocked models</summary>
      <table class="rows compact">
        <caption class="hidden">Allowed and blocked models</caption>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Allow only</th>
            <th scope="col">Block</th>
          </tr>
        </thead>
        <tbody>
          {models.map(({ id }) => (
            <tr key={id}>
              <th scope="row">{id}</th>
              <td>
                <Check
                  label={<span class="hidden">Allow only {id}</span>}
                  isOn={allowed.includes(id)}
                  onChange={(isOn) => {
                    const next = toggled(allowed, id, isOn);
                    set({ allowedModels: next.length === 0 ? null : next });
                  }}
                />
              </td>
              <td>
                <Check
                  label={<span class="hidden">Block {id}</span>}
                  isOn={rules.blockedModels.includes(id)}
                  onChange={(isOn) => set({ blockedModels: toggled(rules.blockedModels, id, isOn) })}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** Every field by its name in a list of changes; the compiler misses none. */
const LABELS: Readonly<Record<keyof Content, string>> = {
  name: "name",
  description: "description",
  tierFloor: "lowest tier",
  tierCeiling: "highest tier",
  capabilities: "capabilities",
  maxCostUsd: "max cost",
  bfclMin: "BFCL score",
  codeQuality: "code",
  chatQuality: "chat",
  allowedModels: "allowed models",
  blockedModels: "blocked models",
};

/** "lowest tier: none → LIGHT", one for each field that differs. */
function differences(before: Content, after: Content): readonly string[] {
  return (Object.keys(LABELS) as (keyof Content)[])
    .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
    .map((field) => `${LABELS[field]}: ${worded(before[field])} → ${worded(after[field])}`);
}

/** Short enough for one line. */
function worded(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return "none";
  if (Array.isArray(value)) return value.length > 2 ? `${value.length} selected` : value.join(", ");
  const text = String(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
