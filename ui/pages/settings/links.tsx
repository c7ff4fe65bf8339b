// One-time links: an invitation for somebody new, and a new password for somebody who forgot theirs.

import { useEffect, useState } from "preact/hooks";
import { type ApiError, call } from "../../api.ts";
import { ago } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { CopyBlock } from "../../kit/copy.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField, TextField } from "../../kit/field.tsx";
import { Problem, Skeleton } from "../../kit/states.tsx";
import type { Account } from "../../types.ts";

export function InviteForm({
  accounts,
  onKnown,
}: {
  readonly accounts: readonly Account[];
  /** Asked for a reset link, since there is a user with this address already. */
  readonly onKnown: (email: string) => void;
}) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("owner");
  const [accountId, setAccountId] = useState("default");
  const [link, setLink] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(null);
    setLink(null);
    await call<{ link: string }>("POST", "/api/invitations", { body: { email, role, accountId } }).then(
      (made) => setLink(made.link),
      (problem: unknown) => setError(problem as ApiError),
    );
  };
  return (
    <details>
      <summary>Invite somebody</summary>
      <form onSubmit={submit}>
        <TextField label="E-mail" type="email" value={email} onInput={setEmail} isRequired />
        <div class="pair">
          <SelectField
            label="Role"
            value={role}
            options={[
              { value: "owner", label: "owner: one account" },
              { value: "operator", label: "operator: everything" },
            ]}
            onChange={setRole}
          />
          <SelectField
            label="Account"
            value={accountId}
            options={accounts.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={setAccountId}
          />
        </div>
        <Problem error={error} />
        {error?.code === "email_taken" && (
          <Button onClick={() => onKnown(email.trim().toLowerCase())}>Make a reset link instead</Button>
        )}
        <Button type="submit">Make the link</Button>
        {link !== null && (
          <>
            <p>Send this link; it works once and is not shown again.</p>
            <CopyBlock text={link} label="Invitation link" />
          </>
        )}
      </form>
    </details>
  );
}

interface MadeReset {
  readonly link: string;
  readonly expiresAt: string;
}

export function ResetLink({
  user,
  onClose,
}: {
  readonly user: { readonly id: string; readonly email: string };
  readonly onClose: () => void;
}) {
  const [made, setMade] = useState<MadeReset | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    call<MadeReset>("POST", `/api/users/${user.id}/reset`).then(setMade, (problem: unknown) =>
      setError(problem as ApiError),
    );
  }, [user.id]);
  return (
    <Dialog title={`New password for ${user.email}`} onClose={onClose}>
      <Problem error={error} />
      {made === null ? (
        error === null && <Skeleton rows={2} />
      ) : (
        <>
          <p>
            Send them this link. It works once, ends {ago(made.expiresAt)}, and is not shown again. Whoever uses it
            signs this user out everywhere else.
          </p>
          <CopyBlock text={made.link} label="Reset link" />
        </>
      )}
      <footer>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}
