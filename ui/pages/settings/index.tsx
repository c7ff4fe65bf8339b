// Settings: what the gateway runs with and where each value comes from, who may sign in, and how the dashboard looks.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { ago, percent, utc } from "../../format.ts";
import { Button, ButtonLink, Segmented } from "../../kit/button.tsx";
import { TextField } from "../../kit/field.tsx";
import { PageHead, Section } from "../../kit/page.tsx";
import { Shown } from "../../kit/states.tsx";
import { Facts } from "../../kit/table.tsx";
import { Tabs } from "../../kit/tabs.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { canUsePasskeys } from "../../parts/people/passkeys.ts";
import { baselineNamed } from "../../parts/text.ts";
import { place, setQuery } from "../../router.ts";
import { isOperator, may, session, signOut } from "../../session.ts";
import { setTheme, type Theme, theme } from "../../theme.ts";
import type { GatewaySettings } from "../../types.ts";
import { Access, ROLE_NAMES } from "./access.tsx";
import { Configuration } from "./configuration.tsx";
import { LinkedIdentities } from "./identities.tsx";
import { OwnPasskeys } from "./passkeys.tsx";
import * as TEXT from "./text.ts";

/** Processes take over each other's changes as often. */
const SETTINGS_EVERY_MS = 5_000;

/** Theme and sign-in for everybody; users and configuration for operators. */
export function Settings() {
  // Owners may not read the settings, so the dashboard does not ask for them.
  const running = useLoad<GatewaySettings>(isOperator() ? "/api/settings" : null, { everyMs: SETTINGS_EVERY_MS });
  const own = { id: "you", label: TEXT.general, show: () => <Own /> };
  const ofGateway = (show: (running: GatewaySettings) => ComponentChildren) => () => (
    <Shown load={running} rows={10}>
      {show}
    </Shown>
  );
  const tabs = [
    own,
    { id: "users", label: TEXT.users, show: () => <Access /> },
    {
      ...{ id: "configuration", label: TEXT.configuration },
      show: ofGateway(({ options }) => <Configuration options={options} />),
    },
    { id: "gateway", label: TEXT.gateway, show: ofGateway((data) => <RunningGateway running={data} />) },
  ];
  const shown = isOperator() ? tabs : may("manage") ? tabs.slice(0, 2) : [own];
  const chosen = shown.find(({ id }) => id === place.value.query.get("tab")) ?? own;
  return (
    <>
      <PageHead title={TEXT.settings} purpose={TEXT.PURPOSES[chosen.id]}>
        <ButtonLink href="/openapi.json">{TEXT.openAPI}</ButtonLink>
      </PageHead>
      <div class="settings">
        <Tabs
          label={TEXT.settings}
          tabs={shown}
          chosen={chosen.id}
          onChoose={(tab) => setQuery({ tab: tab === own.id ? null : tab, q: null }, { replace: true })}
        />
      </div>
    </>
  );
}

/** Settings that everybody has: the theme and the way to sign in. */
function Own() {
  return (
    <>
      <Section title={TEXT.appearance}>
        <Segmented
          label={TEXT.theme}
          choices={[
            { value: "system", label: TEXT.system },
            { value: "light", label: TEXT.light },
            { value: "dark", label: TEXT.dark },
          ]}
          value={theme.value}
          onChange={(next) => setTheme(next as Theme)}
        />
      </Section>
      <Section title={TEXT.yourAccount}>
        <p class="row">
          <span class="grow">
            {session.value?.user?.email} <span class="chip">{ROLE_NAMES[session.value?.user?.role ?? ""]}</span>
          </span>
          <Button onClick={() => void signOut()}>{TEXT.signOut}</Button>
        </p>
        <PasswordForm />
      </Section>
      {canUsePasskeys() && <OwnPasskeys />}
      <LinkedIdentities />
      {!isOperator() && <p class="notice">{TEXT.adminsOnly}</p>}
    </>
  );
}

/** Changes the password, which ends all other sessions. The form is folded away until it is needed. */
function PasswordForm() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const { problem, run } = useTask();
  const submit = (event: Event): void => {
    event.preventDefault();
    void run(call("POST", "/api/session/password", { body: { current, next } }), () => {
      showToast(TEXT.passwordChanged);
      setCurrent("");
      setNext("");
    });
  };
  return (
    <details>
      <summary>{TEXT.changePassword}</summary>
      <form onSubmit={submit}>
        <div class="pair">
          <TextField
            label={TEXT.currentPassword}
            type="password"
            value={current}
            onInput={setCurrent}
            autocomplete="current-password"
            isRequired
          />
          <TextField
            label={TEXT.newPassword}
            type="password"
            value={next}
            onInput={setNext}
            autocomplete="new-password"
            hint={TEXT.passwordHint}
            isRequired
          />
        </div>
        {problem}
        <Button type="submit">{TEXT.changePassword}</Button>
      </form>
    </details>
  );
}

/** The facts that belong into a bug report. */
function RunningGateway({ running }: { readonly running: GatewaySettings }) {
  // Name and value of each line.
  const facts: readonly (readonly [string, string])[] = [
    [TEXT.version, running.version],
    [TEXT.node, running.node],
    [TEXT.store, running.store],
    [TEXT.started, `${ago(running.startedAt)} (${utc(running.startedAt)})`],
    [TEXT.baselineModel, baselineNamed(running.baselineModel, running.baselinePrice)],
    [TEXT.markup, percent(running.markup)],
  ];
  return (
    <Section title={TEXT.aboutThisGateway}>
      <Facts facts={facts} />
      <p class="row">
        <ButtonLink href="/api/settings" download="switchyard-diagnostics.json">
          {TEXT.downloadDiagnostics}
        </ButtonLink>
        <span class="faint">{TEXT.diagnosticsHint}</span>
      </p>
    </Section>
  );
}
