// Who may sign in: users, invitations, the accounts they belong to, and one-time links. For operators.

import { useEffect, useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../../api.ts";
import { ago, utc } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { CopyBlock } from "../../kit/copy.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField, TextField } from "../../kit/field.tsx";
import { Section } from "../../kit/page.tsx";
import { Problem, Shown, Skeleton } from "../../kit/states.tsx";
import { showToast } from "../../kit/toast.tsx";
import { session } from "../../session.ts";
import type { Account, Invitation, List, NewInvitation, ResetLink, User } from "../../types.ts";

/** Users and open invitations in one list, and below it the forms that add to it. For operators. */
export function Access() {
  const users = useLoad<List<User>>("/api/users?limit=200");
  const invitations = useLoad<List<Invitation>>("/api/invitations?limit=200").data?.data ?? [];
  const accounts = useLoad<List<Account>>("/api/accounts?limit=200").data?.data ?? [];
  const [resetting, setResetting] = useState<User | null>(null);
  const nameOf = (id: string): string => accounts.find((account) => account.id === id)?.name ?? id;
  return (
    <Section title="Users and accounts">
      <Shown load={users} rows={3}>
        {({ data }) => (
          <ul class="plain-list people">
            {data.map((user) => (
              <UserItem
                key={user.id}
                user={user}
                account={user.role === "owner" ? nameOf(user.accountId) : "All accounts"}
                onReset={() => setResetting(user)}
              />
            ))}
            {invitations.map((invitation) => (
              <InvitationItem key={invitation.id} invitation={invitation} />
            ))}
          </ul>
        )}
      </Shown>
      <InviteForm
        accounts={accounts}
        onKnown={(email) => setResetting(users.data?.data.find((user) => user.email === email) ?? null)}
      />
      <AccountForm />
      {resetting !== null && <ResetDialog user={resetting} onClose={() => setResetting(null)} />}
    </Section>
  );
}

interface UserItemProps {
  readonly user: User;
  /** What they may see, in words. */
  readonly account: string;
  readonly onReset: () => void;
}

/** Nobody can lock themselves out: your own row has no buttons. */
function UserItem({ user, account, onReset }: UserItemProps) {
  return (
    <li class="row">
      <span class="grow cut">{user.email}</span>
      <span class="chip">{ROLE_NAMES[user.role]}</span>
      <span class="faint">{account}</span>
      <span class="faint" title={utc(user.lastSignInAt)}>
        {ago(user.lastSignInAt)}
      </span>
      {user.id !== session.value?.user?.id && (
        <>
          <Button kind="quiet" label={`Reset link for ${user.email}`} onClick={onReset}>
            Reset link
          </Button>
          <Button
            kind="quiet"
            label={`Remove ${user.email}`}
            onClick={() => void remove(`/api/users/${user.id}`, `${user.email} removed.`)}
          >
            Remove
          </Button>
        </>
      )}
    </li>
  );
}

/** Can be withdrawn; its link then works no more. */
function InvitationItem({ invitation }: { readonly invitation: Invitation }) {
  return (
    <li class="row">
      <span class="grow cut">{invitation.email}</span>
      <span class="chip">Invited as {ROLE_NAMES[invitation.role]}</span>
      <span class="faint" title={utc(invitation.expiresAt)}>
        expires {ago(invitation.expiresAt)}
      </span>
      <Button
        kind="quiet"
        label={`Withdraw invitation for ${invitation.email}`}
        onClick={() => void remove(`/api/invitations/${invitation.id}`, "Invitation withdrawn.")}
      >
        Withdraw
      </Button>
    </li>
  );
}

/** The lists read themselves again after every write, so a toast is all there is to show. */
async function remove(path: string, notice: string): Promise<void> {
  await call("DELETE", path).then(
    () => showToast(notice),
    (problem: unknown) => showToast((problem as ApiError).message),
  );
}

/** An account of its own for keys, credits and profiles. It is chosen at the top of the page. */
function AccountForm() {
  const [name, setName] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(null);
    try {
      await call("POST", "/api/accounts", { body: { name: name.trim() } });
      showToast(`“${name.trim()}” created. Switch to it at the top.`);
      setName("");
    } catch (problem) {
      setError(problem as ApiError);
    }
  };
  return (
    <details>
      <summary>Create account</summary>
      <form onSubmit={submit}>
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          isRequired
          hint="Each account has its own keys, credits and profiles."
        />
        <Problem error={error} />
        <Button type="submit">Create account</Button>
      </form>
    </details>
  );
}

/** The roles of the API as the dashboard names them. */
export const ROLE_NAMES: Readonly<Record<string, string>> = { owner: "Owner", operator: "Admin" };

/** The roles with what they may see. */
const ROLES = [
  { value: "owner", label: "Owner (one account)" },
  { value: "operator", label: "Admin (all accounts)" },
];

/** The accounts to choose from. */
interface InviteFormProps {
  readonly accounts: readonly Account[];
  /** A user with this address exists already: they need a new password, not an invitation. */
  readonly onKnown: (email: string) => void;
}

/** The gateway sends no e-mail: the operator sends the link. */
function InviteForm({ accounts, onKnown }: InviteFormProps) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("owner");
  const [accountId, setAccountId] = useState("default");
  const [link, setLink] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(null);
    setLink(null);
    await call<NewInvitation>("POST", "/api/invitations", { body: { email, role, accountId } }).then(
      (made) => setLink(made.link),
      (problem: unknown) => setError(problem as ApiError),
    );
  };
  return (
    <details>
      <summary>Invite user</summary>
      <form onSubmit={submit}>
        <TextField label="E-mail" type="email" value={email} onInput={setEmail} isRequired />
        <div class="pair">
          <SelectField label="Role" value={role} options={ROLES} onChange={setRole} />
          <SelectField
            label="Account"
            value={accountId}
            options={accounts.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={setAccountId}
          />
        </div>
        <Problem error={error} />
        {error?.code === "email_taken" && (
          <Button onClick={() => onKnown(email.trim().toLowerCase())}>Create reset link instead</Button>
        )}
        <Button type="submit">Create invite link</Button>
        {link !== null && (
          <>
            <p>Send this link. It works once and won't be shown again.</p>
            <CopyBlock text={link} label="Invitation link" />
          </>
        )}
      </form>
    </details>
  );
}

/** Who gets a new password. */
interface ResetDialogProps {
  readonly user: { readonly id: string; readonly email: string };
  readonly onClose: () => void;
}

/** Opening the dialog creates the link. */
function ResetDialog({ user, onClose }: ResetDialogProps) {
  const [made, setMade] = useState<ResetLink | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    call<ResetLink>("POST", `/api/users/${user.id}/reset`).then(setMade, (problem: unknown) =>
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
            Send them this link. It works once, expires {ago(made.expiresAt)} and won't be shown again. Using it signs
            this user out everywhere else.
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
