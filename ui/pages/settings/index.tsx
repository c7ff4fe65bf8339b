// Settings: what the gateway runs with and where each value comes from, who may sign in, and how the dashboard looks.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { ago, percent, utc } from "../../format.ts";
import { Button, ButtonLink, Segmented } from "../../kit/button.tsx";
import { SearchInput, TextField } from "../../kit/field.tsx";
import { PageHead, Section } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { Facts, Table } from "../../kit/table.tsx";
import { Tabs } from "../../kit/tabs.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { type GatewayOption, OptionField } from "../../parts/options.tsx";
import { baselineNamed } from "../../parts/text.ts";
import { place, setQuery } from "../../router.ts";
import { isOperator, may, session, signOut } from "../../session.ts";
import { setTheme, type Theme, theme } from "../../theme.ts";
import type { GatewaySettings } from "../../types.ts";
import { Access, ROLE_NAMES } from "./access.tsx";
import { LinkedIdentities } from "./identities.tsx";
import * as TEXT from "./text.ts";

/** Theme and sign-in for everybody; users and configuration for operators. */
export function Settings() {
  // Owners may not read the settings, so the dashboard does not ask for them.
  const running = useLoad<GatewaySettings>(isOperator() ? "/api/settings" : null);
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

/** Options that can change here have a field, unless file, environment or flag set them. */
function OptionValue({ option }: { readonly option: GatewayOption }) {
  const { isSecret, isSet, isLive, locked, value } = option;
  if (isLive && locked === null) return <OptionField option={option} />;
  return <>{isSecret ? (isSet ? TEXT.isSet : TEXT.notSet) : (value ?? "–")}</>;
}

/** Lists options that can change here first, then those that differ from their defaults. The search is in the address, so that a link shares it. */
function Configuration({ options }: { readonly options: readonly GatewayOption[] }) {
  const words = (place.value.query.get("q") ?? "").toLowerCase();
  const found = options.filter((option) =>
    [option.path, option.name, option.help, option.env].some((text) => text?.toLowerCase().includes(words)),
  );
  return (
    <>
      <SearchInput
        isFilter
        label={TEXT.searchOptions}
        value={words}
        onInput={(q) => setQuery({ q }, { replace: true })}
      />
      <Options title={TEXT.atRunTime} options={found.filter(({ isLive }) => isLive)} />
      <Options title={TEXT.changed} options={found.filter(({ isSet, isLive }) => isSet && !isLive)} />
      <Options title={TEXT.defaults} options={found.filter(({ isSet, isLive }) => !isSet && !isLive)} />
      {found.length === 0 && <Empty title={TEXT.noOption} />}
    </>
  );
}

/** An option that was not set names the variable that would set it. */
function Options({ title, options }: { readonly title: string; readonly options: readonly GatewayOption[] }) {
  if (options.length === 0) return null;
  return (
    <Section title={title}>
      <Table class="options" caption={title} heads={[TEXT.option, TEXT.value, TEXT.source]}>
        {options.map((option) => (
          <tr key={option.name}>
            <th scope="row" data-cell="name">
              <code>{option.path ?? option.name}</code>
              <small class="faint block">{option.help}</small>
            </th>
            <td data-cell="value">
              <OptionValue option={option} />
            </td>
            <td data-cell="from" class="faint">
              {option.locked === null ? (option.place ?? option.origin) : TEXT.lockedBy(option.locked.place)}
              {option.env !== null && !option.isSet && <small class="block">{option.env}</small>}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
