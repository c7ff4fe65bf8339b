// Passkeys of the user: a list, and a form that adds one.

import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { ago } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { TextField } from "../../kit/field.tsx";
import { Section } from "../../kit/page.tsx";
import { Shown } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { addPasskey, canUsePasskeys } from "../../parts/people/passkeys.ts";
import type { Passkeys } from "../../types.ts";
import * as TEXT from "./text.ts";

export function OwnPasskeys() {
  const passkeys = useLoad<Passkeys>("/api/session/passkeys");
  const { problem, run } = useTask();
  return (
    <Section title={TEXT.passkeys}>
      <Shown load={passkeys} rows={1}>
        {({ data }) => (
          <ul class="plain-list people">
            {data.map(({ id, name, host, lastUsedAt }) => (
              <li key={id} class="row">
                <span class="grow cut">
                  {name}{" "}
                  <span class="faint">{TEXT.passkeyUsed(host, lastUsedAt === null ? null : ago(lastUsedAt))}</span>
                </span>
                <Button
                  label={TEXT.removePasskey(name)}
                  onClick={() => void run(call("DELETE", `/api/session/passkeys/${id}`))}
                >
                  {TEXT.remove}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      {problem}
      {canUsePasskeys() ? <PasskeyForm /> : <p class="faint">{TEXT.passkeysNeedName}</p>}
    </Section>
  );
}

/** The password keeps somebody at an unlocked screen from adding a passkey of their own. */
function PasskeyForm() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const { problem, isBusy, run } = useTask();
  const submit = (event: Event): void => {
    event.preventDefault();
    void run(addPasskey(name.trim(), password), (added) => {
      showToast(TEXT.passkeyAdded(added.name));
      setName("");
      setPassword("");
    });
  };
  return (
    <details>
      <summary>{TEXT.addPasskey}</summary>
      <form onSubmit={submit}>
        <div class="pair">
          <TextField label={TEXT.passkeyName} value={name} onInput={setName} maxLength={100} isRequired />
          <TextField
            label={TEXT.currentPassword}
            type="password"
            value={password}
            onInput={setPassword}
            autocomplete="current-password"
            hint={TEXT.passkeyHint}
            isRequired
          />
        </div>
        {problem}
        <Button type="submit" isBusy={isBusy}>
          {TEXT.addPasskey}
        </Button>
      </form>
    </details>
  );
}
