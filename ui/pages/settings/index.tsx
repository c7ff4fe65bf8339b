// Settings: what the gateway runs with and where each value comes from, who may sign in, and how the dashboard looks.

import { useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../../api.ts";
import { ago, percent, utc } from "../../format.ts";
import { Button, ButtonLink, Segmented } from "../../kit/button.tsx";
import { TextField } from "../../kit/field.tsx";
import { PageHead, Section } from "../../kit/page.tsx";
import { Problem, Shown } from "../../kit/states.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useProviderTest } from "../../parts/provider-test.tsx";
import { isOperator, session, signOut } from "../../session.ts";
import { setTheme, type Theme, theme } from "../../theme.ts";
import type { GatewaySettings } from "../../types.ts";
import { Access, ROLE_NAMES } from "./access.tsx";

/** Theme and sign-in for everybody; users and configuration for operators. */
export function Settings() {
  // Owners may not read it, so they do not ask.
  const running = useLoad<GatewaySettings>(isOperator() ? "/api/settings" : null);
  return (
    <>
      <PageHead title="Settings" purpose="Read-only view of the running configuration.">
        <ButtonLink href="/openapi.json">OpenAPI</ButtonLink>
      </PageHead>
      <div class="settings">
        <Section title="Appearance">
          <Segmented
            label="Theme"
            choices={[
              { value: "system", label: "System" },
              { value: "light", label: "Light" },
              { value: "dark", label: "Dark" },
            ]}
            value={theme.value}
            onChange={(next) => setTheme(next as Theme)}
          />
        </Section>
        <Section title="Your account">
          <p class="row">
            <span class="grow">
              {session.value?.user?.email} <span class="chip">{ROLE_NAMES[session.value?.user?.role ?? ""]}</span>
            </span>
            <Button onClick={() => void signOut()}>Sign out</Button>
          </p>
          <PasswordForm />
        </Section>
        {isOperator() ? (
          <>
            <Access />
            <Shown load={running} rows={10}>
              {(data) => <RunningGateway running={data} />}
            </Shown>
          </>
        ) : (
          <p class="notice">Only admins can see configuration.</p>
        )}
      </div>
    </>
  );
}

/** Folded away until it is needed. Other sessions end with the change. */
function PasswordForm() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(null);
    try {
      await call("POST", "/api/session/password", { body: { current, next } });
      showToast("Password changed. Other sessions are signed out.");
      setCurrent("");
      setNext("");
    } catch (problem) {
      setError(problem as ApiError);
    }
  };
  return (
    <details>
      <summary>Change password</summary>
      <form onSubmit={submit}>
        <div class="pair">
          <TextField
            label="Current password"
            type="password"
            value={current}
            onInput={setCurrent}
            autocomplete="current-password"
            isRequired
          />
          <TextField
            label="New password"
            type="password"
            value={next}
            onInput={setNext}
            autocomplete="new-password"
            hint="At least 12 characters."
            isRequired
          />
        </div>
        <Problem error={error} />
        <Button type="submit">Change password</Button>
      </form>
    </details>
  );
}

/** The facts that belong into a bug report, the providers, and every option. */
function RunningGateway({ running }: { readonly running: GatewaySettings }) {
  // Name and value of each line.
  const facts: readonly (readonly [string, string])[] = [
    ["Version", running.version],
    ["Node", running.node],
    ["Store", running.store],
    ["Started", `${ago(running.startedAt)} (${utc(running.startedAt)})`],
    ["Baseline model", running.baselineModel],
    ["Markup", percent(running.markup)],
  ];
  return (
    <>
      <Section title="About this gateway">
        <dl class="facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <p class="row">
          <ButtonLink href="/api/settings" download="switchyard-diagnostics.json">
            Download diagnostics
          </ButtonLink>
          <span class="faint">This page as JSON for bug reports. Contains no secrets.</span>
        </p>
      </Section>
      <Section title="Providers">
        <ul class="plain-list">
          {running.providers.map((provider) => (
            <ProviderRow key={provider.id} provider={provider} />
          ))}
        </ul>
      </Section>
      <Section title="Configuration">
        <Options options={running.options} />
      </Section>
    </>
  );
}

/** A provider with a button that tests it. */
function ProviderRow({
  provider: { id, kind, baseUrl, hasKey },
}: {
  readonly provider: GatewaySettings["providers"][number];
}) {
  const { button, outcome } = useProviderTest(id);
  return (
    <li>
      <div class="row">
        <b>{id}</b>
        <span class="chip">{kind}</span>
        <span class="grow cut faint">{baseUrl}</span>
        {/* The sandbox needs no key. */}
        {kind !== "sandbox" && <span class={hasKey ? "good" : "bad"}>{hasKey ? "Key set" : "No key"}</span>}
        {button}
      </div>
      {outcome}
    </li>
  );
}

/** An option that was not set names the variable that would set it. */
function Options({ options }: { readonly options: GatewaySettings["options"] }) {
  return (
    <div class="table-box">
      <table class="rows options">
        <caption class="hidden">Options</caption>
        <thead>
          <tr>
            <th scope="col">Option</th>
            <th scope="col">Value</th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody>
          {options.map((option) => (
            <tr key={option.name}>
              <th scope="row" data-cell="name">
                <code>{option.name}</code>
                <small class="faint block">{option.help}</small>
              </th>
              <td data-cell="value">{option.isSecret ? (option.isSet ? "Set" : "Not set") : (option.value ?? "–")}</td>
              <td data-cell="from" class="faint">
                {option.place ?? option.origin}
                {option.env !== null && option.origin === "default" && <small class="block">{option.env}</small>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
