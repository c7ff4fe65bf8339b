// Passkeys of the user: a list, and a form that adds one.

import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { ago } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { TextField } from "../../kit/field.tsx";
import { Section } from "../../kit/page.tsx";
import { useTask } from "../../kit/task.tsx";
import { addPasskey } from "../../parts/people/passkeys.ts";
import type { Passkeys } from "../../types.ts";
import * as TEXT from "./text.ts";

export function OwnPasskeys() {
  const passkeys = useLoad<Passkeys>("/api/session/passkeys").data?.data ?? [];
  const { problem, run } = useTask();
  return (
    <Section title={TEXT.passkeys}>
      <ul class="plain-list people">
        {passkeys.map(({ id, name, host, lastUsedAt }) => (
          <li key={id} class="row">
            <span class="grow cut">
              {name} <span class="faint">{TEXT.passkeyUsed(host, ago(lastUsedAt))}</span>
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
      {problem}
      <PasskeyForm />
    </Section>
  );
}

/** The password keeps somebody at an unlocked screen from adding a passkey of their own. */
function PasskeyForm() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const { problem, run } = useTask();
  const submit = (event: Event): void => {
    event.preventDefault();
    void run(addPasskey(name, password), () => {
      setName("");
      setPassword("");
    });
  };
  return (
    <details>
      <summary>{TEXT.addPasskey}</summary>
      <form onSubmit={submit}>
        <div class="pair">
          <TextField label={TEXT.name} value={name} onInput={setName} isRequired />
          <TextField
            label={TEXT.currentPassword}
            type="password"
            value={password}
            onInput={setPassword}
            autocomplete="current-password"
            isRequired
          />
        </div>
        {problem}
        <Button type="submit">{TEXT.addPasskey}</Button>
      </form>
    </details>
  );
}
