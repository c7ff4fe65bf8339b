// The dialog that changes the role and the teams of a member, or removes them.

import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { DeleteButton, useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { Team, User } from "../../types.ts";
import { RoleField, TeamChecks } from "../settings/access.tsx";
import * as TEXT from "./text.ts";

interface MemberEditorProps {
  readonly user: User;
  readonly teams: readonly Team[];
  readonly onClose: () => void;
}

export function MemberEditor({ user, teams, onClose }: MemberEditorProps) {
  const [role, setRole] = useState<string>(user.role);
  const [chosen, setChosen] = useState(user.teams);
  const { problem, isBusy, run } = useTask();
  const submit = (event: Event): void => {
    event.preventDefault();
    void run(call("PATCH", `/api/users/${user.id}`, { body: { role, teams: chosen } }), () => {
      showToast(TEXT.saved(user.email));
      onClose();
    });
  };
  return (
    <Dialog title={TEXT.editNamed(user.email)} onClose={onClose}>
      <form onSubmit={submit}>
        <RoleField value={role} onChange={setRole} />
        <TeamChecks teams={teams} chosen={chosen} onChange={setChosen} />
        <p class="faint">{TEXT.removalHint}</p>
        {problem}
        <footer>
          <DeleteButton
            path={`/api/users/${user.id}`}
            onDone={() => {
              showToast(TEXT.removed(user.email));
              onClose();
            }}
          />
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {TEXT.save}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
