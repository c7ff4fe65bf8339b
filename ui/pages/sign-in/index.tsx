// The pages before the dashboard: the one-time set-up link, an invitation, a new password, and signing in.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call, isSignedOut, useLoad } from "../../api.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { TextField } from "../../kit/field.tsx";
import { Skeleton } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { canUsePasskeys, signInWithPasskey } from "../../parts/people/passkeys.ts";
import { signInProblem } from "../../parts/sign-in-problem.ts";
import { go, place } from "../../router.ts";
import { loadSession, serverCommand, session, setUp, signIn } from "../../session.ts";
import { Logo } from "../../shell.tsx";
import type { IdentityProviders, Invited as InvitedTo } from "../../types.ts";
import * as TEXT from "./text.ts";

/** The gateway checks the same. */
const PASSWORD_MIN = 12;

/** The gateway sends no e-mail, so a forgotten password needs an admin's help. */
export function SignIn({ isSetUpLinkUsed }: { readonly isSetUpLinkUsed: boolean }) {
  return (
    <CredentialsForm
      title={TEXT.signIn}
      action={TEXT.signIn}
      onSubmit={({ email, password }) => signIn(email, password)}
    >
      {isSetUpLinkUsed && <p class="notice">{TEXT.setUpUsed}</p>}
      <SingleSignOn />
      {canUsePasskeys() && <PasskeyButton />}
      <details class="faint">
        <summary>{TEXT.forgotYourPassword}</summary>
        <p>
          {TEXT.forgotHint} <code>{serverCommand(TEXT.resetCommand)}</code> {TEXT.forgotHintEnd}
        </p>
      </details>
    </CredentialsForm>
  );
}

/** A button for each identity provider. It leaves the dashboard and comes back to the same page. */
function SingleSignOn() {
  const { data } = useLoad<IdentityProviders>("/api/sign-in");
  const problem = signInProblem();
  const { path, query } = place.value;
  const here = `${path}${query.size === 0 ? "" : `?${query}`}`;
  const forPeople = data?.data.filter(({ clientId }) => clientId !== null) ?? [];
  return (
    <>
      {problem !== null && <p class="notice bad">{problem}</p>}
      {forPeople.map(({ id, name }) => (
        <p key={id}>
          <ButtonLink href={`/api/sign-in/${id}?to=${encodeURIComponent(here)}`}>{TEXT.continueWith(name)}</ButtonLink>
        </p>
      ))}
    </>
  );
}

/** The browser lists the passkeys that it has for this site, so nobody types an address. */
function PasskeyButton() {
  const { problem, run } = useTask();
  return (
    <>
      <p>
        <Button onClick={() => void run(signInWithPasskey().then(loadSession))}>{TEXT.signInWithPasskey}</Button>
      </p>
      {problem}
    </>
  );
}

/** The first operator of a gateway. Without a token it only says where to find the link. */
export function SetUp({ token }: { readonly token: string }) {
  if (token === "") {
    return (
      <Frame title={TEXT.setUpThisGateway}>
        <p>
          {TEXT.setUpHint} <code>#/setup?token=…</code> {TEXT.setUpHintEnd}
        </p>
        <p class="faint">{TEXT.setUpLost}</p>
      </Frame>
    );
  }
  const submit = async ({ email, password }: Credentials): Promise<void> => {
    await setUp(token, email, password);
    go("/", { replace: true });
  };
  return (
    <CredentialsForm title={TEXT.createAdmin} action={TEXT.createAccount} isNew onSubmit={submit}>
      <p class="faint">{TEXT.worksOnce}</p>
    </CredentialsForm>
  );
}

/** Somebody who was invited chooses a password; the invitation knows their address. */
export function Invited({ token }: { readonly token: string }) {
  const [invited, setInvited] = useState<InvitedTo | null>(null);
  const { error, problem, run } = useTask();
  useEffect(() => {
    void run(call<InvitedTo>("POST", "/api/invitations/read", { body: { token }, isQuestion: true }), setInvited);
  }, [token]);
  const submit = async ({ password }: Credentials): Promise<void> => {
    await call("POST", "/api/invitations/accept", { body: { token, password } });
    await loadSession();
    go("/", { replace: true });
  };
  if (invited === null) {
    return (
      <Frame title={TEXT.invitation}>
        {error === null ? <Skeleton rows={3} /> : problem}
        {error?.code === "invalid_token" && <SignInLink />}
      </Frame>
    );
  }
  const { account, email, invitedBy, role } = invited;
  // An operator joins all accounts, so none is named.
  const title = role !== "operator" ? TEXT.joinAccount(account) : TEXT.joinSwitchyard;
  return (
    <CredentialsForm title={title} action={TEXT.joinTeam} isNew hasEmail={false} onSubmit={submit}>
      <p class="faint">
        {invitedBy !== null && TEXT.invitedBy(invitedBy)} {TEXT.joinHint(email)}
      </p>
    </CredentialsForm>
  );
}

/** A new password through a reset link, which signs the user out everywhere else. */
export function NewPassword({ token }: { readonly token: string }) {
  const submit = async ({ password }: Credentials): Promise<void> => {
    await call("POST", "/api/password-reset", { body: { token, password } });
    isSignedOut.value = false;
    await loadSession();
    go("/", { replace: true });
  };
  return (
    <CredentialsForm
      title={TEXT.chooseANewPassword}
      action={TEXT.saveAndSignIn}
      isNew
      hasEmail={false}
      onSubmit={submit}
    >
      <p class="faint">{TEXT.resetHint}</p>
    </CredentialsForm>
  );
}

/** Input of the form; `email` stays empty where the link knows the address. */
interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Differences between the four pages. */
interface CredentialsFormProps {
  readonly title: string;
  readonly action: string;
  /** A password is chosen, not asked for. */
  readonly isNew?: boolean;
  readonly hasEmail?: boolean;
  readonly onSubmit: (credentials: Credentials) => Promise<void>;
  readonly children: ComponentChildren;
}

/** One form for all of them. Password managers tell choosing from entering by `autocomplete`. */
function CredentialsForm({ title, action, isNew = false, hasEmail = true, onSubmit, children }: CredentialsFormProps) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { error, problem, isBusy, run } = useTask();
  const isShort = isNew && password !== "" && password.length < PASSWORD_MIN;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isShort) void run(onSubmit({ email, password }));
  };
  return (
    <Frame title={title}>
      {children}
      <form onSubmit={submit}>
        {hasEmail && (
          <TextField
            label={TEXT.email}
            type="email"
            value={email}
            onInput={setEmail}
            autocomplete="username"
            isRequired
            isFocused
          />
        )}
        <TextField
          label={TEXT.password}
          type="password"
          value={password}
          onInput={setPassword}
          autocomplete={isNew ? "new-password" : "current-password"}
          isRequired
          hint={isNew ? TEXT.passwordHint(PASSWORD_MIN) : undefined}
          error={isShort ? TEXT.passwordTooShort(PASSWORD_MIN) : null}
        />
        {problem}
        {error?.code === "invalid_token" && <SignInLink />}
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {action}
        </Button>
      </form>
    </Frame>
  );
}

/** Offers to sign in where a link works no more: its holder may have an account already. */
function SignInLink() {
  return (
    <p>
      <a href="/">{TEXT.signIn}</a>
    </p>
  );
}

/** A card in the middle of an otherwise empty page. */
function Frame({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  useEffect(() => {
    document.title = TEXT.documentTitle(title);
  }, [title]);
  return (
    <main class="gate">
      <div class="brand">
        <Logo />
        {TEXT.switchyard}
      </div>
      <section class="card">
        <h1>{title}</h1>
        {children}
      </section>
      <p class="faint">{session.value?.version}</p>
    </main>
  );
}
