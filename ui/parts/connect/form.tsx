// The form that connects a provider: paste a key, test it, connect. Also the first step of the checklist.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { PROVIDER_KINDS } from "../../../src/catalog/provider-kinds.ts";
import { CAPABILITIES, type Capability, PROVIDER_ID } from "../../../src/core/model.ts";
import { call } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField, TextArea, TextField } from "../../kit/field.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { loadSession } from "../../session.ts";
import type { ProviderTested, Vendor } from "../../types.ts";
import { Capabilities } from "../capabilities.tsx";
import { TestOutcome } from "../provider-test.tsx";
import * as TEXT from "../text.ts";
import { CloudForm } from "./cloud-form.tsx";
import { CLOUDS } from "./clouds.ts";

/** The formats of servers that are not in the catalogue. */
const KINDS = PROVIDER_KINDS.flatMap(({ kind, label }) => (label === undefined ? [] : [{ value: kind, label }]));

interface ConnectProps {
  /** A vendor of the catalogue, or the kind of another server. */
  readonly what: Vendor | string;
  readonly onClose: () => void;
}

/** Nothing is stored before *Connect*: a test sends the key with the question. */
export function Connect({ what, onClose }: ConnectProps) {
  const cloud = CLOUDS.find(({ kind }) => kind === what);
  const name = cloud?.name ?? (typeof what !== "string" ? what.name : OTHER_NAMES[what]) ?? TEXT.anotherServer;
  return (
    <Dialog title={TEXT.connectNamed(name)} onClose={onClose}>
      {cloud === undefined ? (
        <ConnectForm what={what} onDone={onClose} />
      ) : (
        <CloudForm cloud={cloud} onDone={onClose} />
      )}
    </Dialog>
  );
}

/** Kind of server that Azure is. The catalogue has models of Azure under the provider id below. */
const AZURE = "azure";
const AZURE_ID = "azure-openai";
const OTHER_NAMES: Readonly<Record<string, string>> = { [AZURE]: TEXT.kindAzure };

interface ConnectFormProps {
  readonly what: Vendor | string;
  readonly onDone: () => void;
}

/** A vendor that ships needs a key only; another server also its address and the models to use. */
export function ConnectForm({ what, onDone }: ConnectFormProps) {
  const isCustom = typeof what === "string";
  const isOwn = isCustom && what !== AZURE;
  const [server, setServer] = useState(() => startOf(what));
  const [apiKey, setApiKey] = useState("");
  const [tested, setTested] = useState<ProviderTested | null>(null);
  const { problem, isBusy, run } = useTask();
  const id = server.id.trim();
  const fields = { ...(isCustom && serverFields(server)), ...(apiKey.trim() !== "" && { apiKey: apiKey.trim() }) };
  const [isTried, setTried] = useState(false);
  const canAsk = isProviderId(id) && (!isCustom || isAddress(server.baseUrl));
  const test = async (): Promise<void> => {
    setTried(true);
    if (!canAsk) return;
    const path = `/api/providers/${encodeURIComponent(id)}/test`;
    setTested(null);
    return run(call<ProviderTested>("POST", path, { body: { draft: fields }, isQuestion: true }), (outcome) => {
      setTested(outcome);
      if (isOwn && server.names === "") setServer(filled(server, outcome.models ?? []));
    });
  };
  const connect = (event: Event): void => {
    event.preventDefault();
    // Without models there is nothing to route to, so its list comes first. A wrong address has none.
    if (!canAsk || (isOwn && server.names === "" && !tested?.ok)) return void test();
    const body = { id, ...fields, ...(isOwn && { models: modelRows(server, tested?.models ?? []) }) };
    void run(call("POST", "/api/providers", { body }), () => {
      showToast(TEXT.connected(isCustom ? id : what.name));
      // The sandbox may have ended with it.
      void loadSession();
      onDone();
    });
  };
  return (
    <form onSubmit={connect}>
      <ServerFields server={server} onChange={setServer} isTried={isTried} note={tested?.models?.[0]?.note}>
        <TextField
          label={TEXT.apiKey}
          type="password"
          value={apiKey}
          onInput={setApiKey}
          hint={isCustom ? TEXT.keyOptional : TEXT.keyHint}
          isRequired={!isCustom}
          isFocused={!isCustom}
        />
      </ServerFields>
      <footer>
        {problem}
        <div aria-live="polite">{tested !== null && <TestOutcome outcome={tested} />}</div>
        <Button isBusy={isBusy} onClick={test}>
          {TEXT.test}
        </Button>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {TEXT.connect}
        </Button>
      </footer>
    </form>
  );
}

type ListedModels = NonNullable<ProviderTested["models"]>;

/** Fields for a server that the catalogue does not know. */
interface OtherServer {
  readonly id: string;
  readonly kind: string;
  readonly baseUrl: string;
  readonly apiVersion: string;
  /** A line for each model or deployment. */
  readonly names: string;
  /** USD per million tokens. */
  readonly input: string;
  readonly output: string;
  readonly capabilities: readonly Capability[];
}

function isProviderId(text: string): boolean {
  return PROVIDER_ID.test(text.trim());
}

/** The start of an address, which is what people forget. */
function isAddress(text: string): boolean {
  return /^https?:\/\/[^/\s]/i.test(text.trim());
}

function startOf(what: Vendor | string): OtherServer {
  const isCustom = typeof what === "string";
  return {
    ...{ id: isCustom ? (what === AZURE ? AZURE_ID : "") : what.id, kind: isCustom ? what : "" },
    ...{ baseUrl: "", apiVersion: "", names: "", input: "0", output: "0", capabilities: ["tools", "json"] },
  };
}

/** A server with more models has its list typed: nobody uses all of them. */
const FILLED_MAX = 50;

/**
 * Fills in the models that the server lists, and ticks what all of them can do. A tick that the server says nothing about
 * stays.
 */
function filled(server: OtherServer, models: ListedModels): OtherServer {
  if (models.length > FILLED_MAX) return server;
  const names = models.map(({ upstream }) => upstream).join("\n");
  const chats = models.filter(({ capabilities }) => !hasEndpoint(capabilities));
  const isOn = (each: Capability): boolean =>
    chats.every(
      ({ capabilities, untold }) =>
        capabilities.includes(each) || (untold.includes(each) && server.capabilities.includes(each)),
    );
  return { ...server, names, capabilities: chats.length === 0 ? server.capabilities : CAPABILITIES.filter(isOn) };
}

/** A model of an endpoint, such as embeddings, has no capabilities of chat. */
function hasEndpoint(capabilities: readonly string[]): boolean {
  return capabilities.some((each) => !CAPABILITIES.some((known) => known === each));
}

/** Builds the fields as the configuration has them. Fields that were left empty are not sent. */
function serverFields({ kind, baseUrl, apiVersion, names }: OtherServer): object {
  const pairs = linesOf(names).map((line) => line.split(/[=:]/).map((word) => word.trim()));
  // A model without a name of its deployment is refused by the gateway.
  const deployments = Object.fromEntries(pairs.map(([model, name = ""]) => [model, name]));
  return {
    ...{ kind, baseUrl: baseUrl.trim() },
    ...(kind === AZURE && apiVersion.trim() !== "" && { apiVersion: apiVersion.trim() }),
    ...(kind === AZURE && pairs.length > 0 && { deployments }),
  };
}

function linesOf(names: string): readonly string[] {
  return names
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

/** Builds a row for each model, with what the server told of the model. */
function modelRows({ names, input, output, capabilities }: OtherServer, listed: ListedModels): readonly object[] {
  return linesOf(names).map((upstream) => {
    const { context, capabilities: told = [] } = listed.find((model) => model.upstream === upstream) ?? {};
    return {
      upstream,
      price: { input: Number(input), output: Number(output) },
      context: context ?? undefined,
      capabilities: hasEndpoint(told) ? told : [...new Set([...told, ...capabilities])],
    };
  });
}

interface ServerFieldsProps {
  readonly server: OtherServer;
  readonly onChange: (server: OtherServer) => void;
  /** Says that empty fields are errors by now. */
  readonly isTried: boolean;
  /** Note about this kind of server, which the test returned. */
  readonly note: string | null | undefined;
  /** The key, which is all that a vendor needs. */
  readonly children: ComponentChildren;
}

function ApiVersion(props: { readonly value: string; readonly onInput: (version: string) => void }) {
  return <TextField label={TEXT.apiVersion} hint={TEXT.apiVersionHint} {...props} />;
}

/** Name, format and address, and the models to use with their price; for Azure what its operator calls them. */
function ServerFields({ server, onChange, isTried, note, children }: ServerFieldsProps) {
  const set = (field: keyof OtherServer) => (value: string) => onChange({ ...server, [field]: value });
  const isAzure = server.kind === AZURE;
  const price = (field: "input" | "output") =>
    ({ value: server[field], onInput: set(field), type: "number", min: "0", step: "any", isRequired: true }) as const;
  if (server.kind === "") return <>{children}</>;
  return (
    <>
      <TextField
        label={TEXT.id}
        value={server.id}
        onInput={set("id")}
        hint={TEXT.idHint}
        error={isProviderId(server.id) || (server.id === "" && !isTried) ? null : TEXT.idInvalid}
        isRequired
        isFocused
      />
      {!isAzure && <SelectField label={TEXT.kind} value={server.kind} options={KINDS} onChange={set("kind")} />}
      <TextField
        label={TEXT.baseUrl}
        value={server.baseUrl}
        onInput={set("baseUrl")}
        placeholder={isAzure ? TEXT.azureUrlExample : TEXT.baseUrlExample}
        error={isAddress(server.baseUrl) || !(isTried || server.baseUrl.includes(".")) ? null : TEXT.addressInvalid}
        isRequired
      />
      {isAzure && <ApiVersion value={server.apiVersion} onInput={set("apiVersion")} />}
      {children}
      <TextArea
        label={isAzure ? TEXT.deployments : TEXT.models}
        value={server.names}
        onInput={set("names")}
        hint={isAzure ? TEXT.deploymentsHint : TEXT.modelsHint}
        placeholder={isAzure ? TEXT.deploymentsExample : ""}
        rows={3}
        isCode
      />
      {!isAzure && (
        <>
          <div class="pair">
            <TextField label={TEXT.inputPrice} hint={TEXT.priceHint} {...price("input")} />
            <TextField label={TEXT.outputPrice} {...price("output")} />
          </div>
          <Capabilities
            legend={TEXT.capabilities}
            chosen={server.capabilities}
            onChange={(capabilities) => onChange({ ...server, capabilities })}
          />
          <p class="hint">{note}</p>
        </>
      )}
    </>
  );
}
