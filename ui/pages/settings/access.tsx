// Access to the dashboard, for operators: users, invitations, the accounts they belong to, and one-time links.

import { useEffect, useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../../api.ts";
import { ago, utc } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { CopyBlock } from "../../kit/copy.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Check, SelectField, TextField } from "../../kit/field.tsx";
import { Section } from "../../kit/page.tsx";
import { Shown, Skeleton } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { hrefTo } from "../../router.ts";
import { isOperator, session, shownAccount } from "../../session.ts";
import type { Account, Invitation, List, NewInvitation, ResetLink, Team, User } from "../../types.ts";
import * as TEXT from "./text.ts";

/** Users and open invitations in one list, and below it the forms that add to it. For operators. */
export function Access() {
  const users = useLoad<List<User>>("/api/users?limit=200");
  const invitations = useLoad<List<Invitation>>("/api/invitations?limit=200").data?.data ?? [];
  const accounts = useLoad<List<Account>>(isOperator() ? "/api/accounts?limit=200" : null).data?.data ?? [];
  const [resetting, setResetting] = useState<User | null>(null);
  const nameOf = (id: string): string => accounts.find((account) => account.id === id)?.name ?? id;
  return (
    <Section title={TEXT.usersAndAccounts}>
      <Shown load={users} rows={3}>
        {({ data }) => (
          <ul class="plain-list people">
            {data.map((user) => (
              <UserItem
                key={user.id}
                user={user}
                account={user.role === "operator" ? TEXT.allAccounts : nameOf(user.accountId)}
                onReset={() => setResetting(user)}
              />
            ))}
            {invitations.map((invitation) => (
              <InvitationItem key={invitation.id} invitation={invitation} />
            ))}
          </ul>
        )}
      </Shown>
      <details>
        <summary>{TEXT.inviteUser}</summary>
        <InviteForm
          accounts={accounts}
          onKnown={(email) => setResetting(users.data?.data.find((user) => user.email === email) ?? null)}
        />
      </details>
      {isOperator() && <AccountForm />}
      {resetting !== null && <ResetDialog user={resetting} onClose={() => setResetting(null)} />}
    </Section>
  );
}

interface UserItemProps {
  readonly user: User;
  /** Accounts that the user may see, in words. */
  readonly account: string;
  readonly onReset: () => void;
}

/** Nobody can lock themselves out: your own row has no buttons. */
function UserItem({ user, account, onReset }: UserItemProps) {
  return (
    <li class="row">
      <span class="grow">{user.email}</span>
      <span class="chip">{ROLE_NAMES[user.role]}</span>
      <span class="faint">{account}</span>
      <span class="faint" title={utc(user.lastSignInAt)}>
        {ago(user.lastSignInAt)}
      </span>
      {user.id !== session.value?.user?.id && (
        <>
          <Button kind="quiet" label={TEXT.resetLinkFor(user.email)} onClick={onReset}>
            {TEXT.resetLink}
          </Button>
          <Button
            kind="quiet"
            label={TEXT.removeUser(user.email)}
            onClick={() => void remove(`/api/users/${user.id}`, TEXT.userRemoved(user.email))}
          >
            {TEXT.remove}
          </Button>
        </>
      )}
    </li>
  );
}

/** Can be withdrawn; its link then works no more. */
export function InvitationItem({ invitation }: { readonly invitation: Invitation }) {
  return (
    <li class="row">
      <span class="grow">{invitation.email}</span>
      <span class="chip">{TEXT.invitedAs(ROLE_NAMES[invitation.role])}</span>
      <span class="faint" title={utc(invitation.expiresAt)}>
        {TEXT.expires(ago(invitation.expiresAt))}
      </span>
      <Button
        kind="quiet"
        label={TEXT.withdrawFor(invitation.email)}
        onClick={() => void remove(`/api/invitations/${invitation.id}`, TEXT.invitationWithdrawn)}
      >
        {TEXT.withdraw}
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
  const { problem, run } = useTask();
  const submit = (event: Event): void => {
    event.preventDefault();
    void run(call<Account>("POST", "/api/accounts", { body: { name: name.trim() } }), (created) => {
      const href = hrefTo("/", { account: created.id, key: null });
      showToast(TEXT.accountCreated(created.name), { text: TEXT.switchToIt, href });
      setName("");
    });
  };
  return (
    <details>
      <summary>{TEXT.createAccount}</summary>
      <form onSubmit={submit}>
        <TextField label={TEXT.name} value={name} onInput={setName} isRequired hint={TEXT.accountHint} />
        {problem}
        <Button type="submit">{TEXT.createAccount}</Button>
      </form>
    </details>
  );
}

/** The roles of the API as the dashboard names them. */
export const ROLE_NAMES: Readonly<Record<string, string>> = TEXT.ROLES;

/** The roles with what they may see. */
const ROLES = Object.entries(TEXT.ROLE_HINTS).map(([value, label]) => ({ value, label }));

/** The accounts to choose from. */
interface InviteFormProps {
  /** Left out, the person joins the account that is shown. */
  readonly accounts?: readonly Account[];
  readonly teams?: readonly Team[];
  /** A user with this address exists already: they need a new password, not an invitation. */
  readonly onKnown: (email: string) => void;
}

/** The gateway sends no e-mail: the operator sends the link. */
export function InviteForm({ accounts = [], teams = [], onKnown }: InviteFormProps) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("member");
  const [accountId, setAccountId] = useState(shownAccount);
  const [inTeams, setInTeams] = useState<readonly string[]>([]);
  const [link, setLink] = useState<string | null>(null);
  const { error, problem, run } = useTask();
  const submit = (event: Event): void => {
    event.preventDefault();
    setLink(null);
    const body = { email, role, accountId, teams: inTeams };
    void run(call<NewInvitation>("POST", "/api/invitations", { body }), (made) => setLink(made.link));
  };
  return (
    <form onSubmit={submit}>
      <TextField label={TEXT.email} type="email" value={email} onInput={setEmail} isRequired />
      <div class="pair">
        <RoleField value={role} onChange={setRole} />
        {accounts.length > 0 && (
          <SelectField
            label={TEXT.account}
            value={accountId}
            options={accounts.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={setAccountId}
          />
        )}
      </div>
      <TeamChecks teams={teams} chosen={inTeams} onChange={setInTeams} />
      {problem}
      {error?.code === "email_taken" && (
        <Button onClick={() => onKnown(email.trim().toLowerCase())}>{TEXT.resetInstead}</Button>
      )}
      <Button type="submit">{TEXT.createInviteLink}</Button>
      {link !== null && (
        <>
          <p>{TEXT.invitationHint}</p>
          <CopyBlock text={link} label={TEXT.invitationLink} />
        </>
      )}
    </form>
  );
}

interface RoleFieldProps {
  readonly value: string;
  readonly onChange: (role: string) => void;
}

/** Only operators appoint operators. */
export function RoleField({ value, onChange }: RoleFieldProps) {
  const options = ROLES.filter((role) => isOperator() || role.value !== "operator");
  return <SelectField label={TEXT.role} value={value} options={options} onChange={onChange} />;
}

interface TeamChecksProps {
  readonly teams: readonly Team[];
  readonly chosen: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
}

/** The teams of a person. Without any team there is nothing to choose. */
export function TeamChecks({ teams, chosen, onChange }: TeamChecksProps) {
  if (teams.length === 0) return null;
  return (
    <fieldset>
      <legend>{TEXT.teams}</legend>
      {teams.map(({ id, name }) => (
        <Check
          key={id}
          label={name}
          isOn={chosen.includes(id)}
          onChange={(isOn) => onChange([...chosen.filter((each) => each !== id), ...(isOn ? [id] : [])])}
        />
      ))}
    </fieldset>
  );
}

interface ResetDialogProps {
  readonly user: { readonly id: string; readonly email: string };
  readonly onClose: () => void;
}

/** Opening the dialog creates the link. */
export function ResetDialog({ user, onClose }: ResetDialogProps) {
  const [made, setMade] = useState<ResetLink | null>(null);
  const { error, problem, run } = useTask();
  useEffect(() => {
    void run(call<ResetLink>("POST", `/api/users/${user.id}/reset`), setMade);
  }, [user.id]);
  return (
    <Dialog title={TEXT.newPasswordFor(user.email)} onClose={onClose}>
      {problem}
      {made === null ? (
        error === null && <Skeleton rows={2} />
      ) : (
        <>
          <p>{TEXT.resetHint(ago(made.expiresAt))}</p>
          <CopyBlock text={made.link} label={TEXT.resetLink} />
        </>
      )}
      <footer>
        <Button kind="primary" onClick={onClose}>
          {TEXT.done}
        </Button>
      </footer>
    </Dialog>
  );
}
