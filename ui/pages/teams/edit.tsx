// The dialog that creates, changes and deletes a team.

import { useState } from "preact/hooks";
import { TIERS } from "../../../src/core/tiers.ts";
import { call, useLoad } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField, TextArea, TextField } from "../../kit/field.tsx";
import { DeleteButton, useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { List, Profile, Team } from "../../types.ts";
import * as TEXT from "./text.ts";

interface TeamEditorProps {
  /** The team to change; null for a new one. */
  readonly saved: Team | null;
  readonly teams: readonly Team[];
  readonly onClose: () => void;
}

/** Fields as the form has them: empty texts where a team has no such bound. */
interface TeamDraft {
  readonly name: string;
  readonly parent: string;
  readonly profile: string;
  readonly models: string;
  readonly ceiling: string;
}

function draftOf(saved: Team | null): TeamDraft {
  const { name = "", parent, profile, allowedModels, tierCeiling } = saved ?? {};
  return {
    name,
    parent: parent ?? "",
    profile: profile ?? "",
    models: allowedModels?.join("\n") ?? "",
    ceiling: tierCeiling ?? "",
  };
}

function bodyOf({ name, parent, profile, models, ceiling }: TeamDraft): object {
  const listed = models.split(/[\s,]+/).filter((model) => model !== "");
  return {
    name: name.trim(),
    parent: parent || null,
    profile: profile || null,
    allowedModels: listed.length === 0 ? null : listed,
    tierCeiling: ceiling || null,
  };
}

export function TeamEditor({ saved, teams, onClose }: TeamEditorProps) {
  const [draft, setDraft] = useState(() => draftOf(saved));
  const { problem, isBusy, run } = useTask();
  const set = (field: keyof TeamDraft) => (value: string) => setDraft({ ...draft, [field]: value });
  const done = (notice: string): void => {
    showToast(notice);
    onClose();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const [method, path] = saved === null ? ["POST", "/api/teams"] : ["PATCH", `/api/teams/${saved.id}`];
    void run(call(method as "POST" | "PATCH", path as string, { body: bodyOf(draft) }), () =>
      done(TEXT.saved(draft.name.trim())),
    );
  };
  // Teams nest once: one with teams inside is part of no other.
  const hasParts = teams.some(({ parent }) => parent !== null && parent === saved?.id);
  const around = hasParts ? [] : teams.filter(({ id, parent }) => parent === null && id !== saved?.id);
  return (
    <Dialog title={saved === null ? TEXT.createTeam : TEXT.editTitle(saved.name)} onClose={onClose}>
      <form onSubmit={submit}>
        <TextField label={TEXT.name} value={draft.name} onInput={set("name")} isRequired isFocused />
        <SelectField
          label={TEXT.partOf}
          hint={hasParts ? TEXT.hasParts : undefined}
          value={draft.parent}
          options={[{ value: "", label: TEXT.noTeam }, ...optionsOf(around)]}
          onChange={set("parent")}
        />
        <BoundFields draft={draft} set={set} />
        {problem}
        <footer>
          {saved !== null && (
            <DeleteButton path={`/api/teams/${saved.id}`} onDone={() => done(TEXT.removed(saved.name))} />
          )}
          <Button kind="primary" type="submit" isBusy={isBusy} isDisabled={draft.name.trim() === ""}>
            {TEXT.save}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

interface BoundFieldsProps {
  readonly draft: TeamDraft;
  readonly set: (field: keyof TeamDraft) => (value: string) => void;
}

/** The profile and the bounds of its keys. */
function BoundFields({ draft, set }: BoundFieldsProps) {
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=500").data?.data ?? [];
  return (
    <>
      <div class="pair">
        <SelectField
          label={TEXT.profile}
          hint={TEXT.profileHint}
          value={draft.profile}
          options={[{ value: "", label: TEXT.noProfile }, ...optionsOf(profiles)]}
          onChange={set("profile")}
        />
        <SelectField
          label={TEXT.ceiling}
          value={draft.ceiling}
          options={[{ value: "", label: TEXT.anyTier }, ...TIERS.map((tier) => ({ value: tier, label: tier }))]}
          onChange={set("ceiling")}
        />
      </div>
      <TextArea
        label={TEXT.models}
        hint={TEXT.modelsHint}
        value={draft.models}
        onInput={set("models")}
        rows={3}
        isCode
      />
    </>
  );
}

function optionsOf(named: readonly { readonly id: string; readonly name: string }[]) {
  return named.map(({ id, name }) => ({ value: id, label: name }));
}
