// The pages before the dashboard: the one-time set-up link, an invitation, a new password, and signing in.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type ApiError, call, isSignedOut } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { TextField } from "../../kit/field.tsx";
import { Problem } from "../../kit/states.tsx";
import { go } from "../../router.ts";
import { loadSession, serverCommand, session, setUp, signIn } from "../../session.ts";
import { Logo } from "../../shell.tsx";

/** The gateway checks the same. */
const PASSWORD_MIN = 12;

/** The gateway sends no e-mail, so a forgotten password needs an admin's help. */
export function SignIn({ isSetUpLinkUsed }: { readonly isSetUpLinkUsed: boolean }) {
  return (
    <CredentialsForm title="Sign in" action="Sign in" onSubmit={({ email, password }) => signIn(email, password)}>
      {isSetUpLinkUsed && <p class="notice">This set-up link has already been used. Sign in with your account.</p>}
      <details class="faint">
        <summary>Forgot your password?</summary>
        <p>
          Ask your admin for a reset link (Settings, Users). If you are the only admin, run{" "}
          <code>{serverCommand("users reset E-MAIL")}</code> on the server.
        </p>
      </details>
    </CredentialsForm>
  );
}

/** The first operator of a gateway. Without a token it only says where to find the link. */
export function SetUp({ token }: { readonly token: string }) {
  if (token === "") {
    return (
      <Frame title="Set up this gateway">
        <p>
          Open the one-time link that the gateway printed when it started. It ends in <code>#/setup?token=…</code> and
          lets you create the admin account.
        </p>
        <p class="faint">Lost the link? Restart the gateway to print a new one.</p>
      </Frame>
    );
  }
  const submit = async ({ email, password }: Credentials): Promise<void> => {
    await setUp(token, email, password);
    go("/", { replace: true });
  };
  return (
    <CredentialsForm title="Create your admin account" action="Create account" isNew onSubmit={submit}>
      <p class="faint">This link works once.</p>
    </CredentialsForm>
  );
}

/** Somebody who was invited chooses a password; the invitation knows their address. */
export function Invited({ token }: { readonly token: string }) {
  const submit = async ({ password }: Credentials): Promise<void> => {
    await call("POST", "/api/invitations/accept", { body: { token, password } });
    await loadSession();
    go("/", { replace: true });
  };
  return (
    <CredentialsForm title="Join Switchyard" action="Join team" isNew hasEmail={false} onSubmit={submit}>
      <p class="faint">Choose a password to accept your invitation.</p>
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
    <CredentialsForm title="Choose a new password" action="Save and sign in" isNew hasEmail={false} onSubmit={submit}>
      <p class="faint">This link works once. You'll be signed out everywhere else.</p>
    </CredentialsForm>
  );
}

/** What was entered; `email` stays empty where the link knows it. */
interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** What differs between the four pages. */
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
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isShort = isNew && password !== "" && password.length < PASSWORD_MIN;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isShort) return;
    setBusy(true);
    setError(null);
    await onSubmit({ email, password }).catch((problem: unknown) => setError(problem as ApiError));
    setBusy(false);
  };
  return (
    <Frame title={title}>
      {children}
      <form onSubmit={submit}>
        {hasEmail && (
          <TextField
            label="E-mail"
            type="email"
            value={email}
            onInput={setEmail}
            autocomplete="username"
            isRequired
            isFocused
          />
        )}
        <TextField
          label="Password"
          type="password"
          value={password}
          onInput={setPassword}
          autocomplete={isNew ? "new-password" : "current-password"}
          isRequired
          hint={isNew ? `At least ${PASSWORD_MIN} characters.` : undefined}
          error={isShort ? `Use at least ${PASSWORD_MIN} characters.` : null}
        />
        <Problem error={error} />
        {error?.code === "invalid_token" && (
          <p>
            <a href="/">Sign in</a>
          </p>
        )}
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {action}
        </Button>
      </form>
    </Frame>
  );
}

/** A card in the middle of an otherwise empty page. */
function Frame({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Switchyard`;
  }, [title]);
  return (
    <main class="gate">
      <div class="brand">
        <Logo />
        Switchyard
      </div>
      <section class="card">
        <h1>{title}</h1>
        {children}
      </section>
      <p class="faint">{session.value?.version}</p>
    </main>
  );
}
