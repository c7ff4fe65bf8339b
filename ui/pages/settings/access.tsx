// Who may sign in: users, invitations by link, and the accounts they belong to. For operators.

import { useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../../api.ts";
import { ago, utc } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { TextField } from "../../kit/field.tsx";
import { Section } from "../../kit/page.tsx";
import { Problem, Shown } from "../../kit/states.tsx";
import { tell } from "../../kit/toast.tsx";
import { session } from "../../session.ts";
import type { Account, List } from "../../types.ts";
import { InviteForm, ResetLink } from "./links.tsx";

interface Person {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly accountId: string;
}

interface UserRow extends Person {
  readonly lastSignInAt: string | null;
}

interface InvitationRow extends Person {
  readonly expiresAt: string;
}

export function Access() {
  const users = useLoad<List<UserRow>>("/api/users?limit=200");
  const invitations = useLoad<List<InvitationRow>>("/api/invitations?limit=200").data?.data ?? [];
  const accounts = useLoad<List<Account>>("/api/accounts?limit=200").data?.data ?? [];
  const [resetting, setResetting] = useState<UserRow | null>(null);
  const nameOf = (id: string): string => accounts.find((account) => account.id === id)?.name ?? id;
  const remove = async (path: string, said: string): Promise<void> => {
    await call("DELETE", path).then(
      () => tell(said),
      (problem: unknown) => tell((problem as ApiError).message),
    );
  };
  return (
    <Section title="Users and accounts">
      <Shown load={users} rows={3}>
        {({ data }) => (
          <ul class="plain-list people">
            {data.map((user) => (
              <li key={user.id} class="row">
                <span class="grow cut">{user.email}</span>
                <span class="chip">{user.role}</span>
                <span class="faint">{user.role === "owner" ? nameOf(user.accountId) : "all accounts"}</span>
                <span class="faint" title={utc(user.lastSignInAt)}>
                  {ago(user.lastSignInAt)}
                </span>
                {user.id !== session.value?.user?.id && (
                  <>
                    <Button kind="quiet" label={`Reset link for ${user.email}`} onClick={() => setResetting(user)}>
                      Reset link
                    </Button>
                    <Button
                      kind="quiet"
                      label={`Remove ${user.email}`}
                      onClick={() => void remove(`/api/users/${user.id}`, `${user.email} is removed.`)}
                    >
                      Remove
                    </Button>
                  </>
                )}
              </li>
            ))}
            {invitations.map((each) => (
              <li key={each.id} class="row">
                <span class="grow cut">{each.email}</span>
                <span class="chip">invited as {each.role}</span>
                <span class="faint" title={utc(each.expiresAt)}>
                  ends {ago(each.expiresAt)}
                </span>
                <Button
                  kind="quiet"
                  label={`Withdraw the invitation of ${each.email}`}
                  onClick={() => void remove(`/api/invitations/${each.id}`, "Withdrawn.")}
                >
                  Withdraw
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <InviteForm
        accounts={accounts}
        onKnown={(email) => setResetting(users.data?.data.find((user) => user.email === email) ?? null)}
      />
      <AccountForm />
      {resetting !== null && <ResetLink user={resetting} onClose={() => setResetting(null)} />}
    </Section>
  );
}

function AccountForm() {
  const [name, setName] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(null);
    try {
      await call("POST", "/api/accounts", { body: { name: name.trim() } });
      tell(`Account “${name.trim()}” is made. Choose it at the top.`);
      setName("");
    } catch (problem) {
      setError(problem as ApiError);
    }
  };
  return (
    <details>
      <summary>New account</summary>
      <form onSubmit={submit}>
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          isRequired
          hint="Keys, credits and profiles of its own."
        />
        <Problem error={error} />
        <Button type="submit">Make it</Button>
      </form>
    </details>
  );
}
