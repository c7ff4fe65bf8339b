// The form that connects a provider: paste a key, test it, connect. Also the first step of the checklist.

import { useState } from "preact/hooks";
import { type ApiError, call } from "../api.ts";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { SelectField, TextArea, TextField } from "../kit/field.tsx";
import { Problem } from "../kit/states.tsx";
import { showToast } from "../kit/toast.tsx";
import { loadSession } from "../session.ts";
import type { ProviderTested, Vendor } from "../types.ts";
import { TestOutcome } from "./provider-test.tsx";
import * as TEXT from "./text.ts";

/** The kinds of servers that are not in the catalogue. */
const KINDS = [
  { value: "openai", label: TEXT.kindOpenai },
  { value: "anthropic", label: TEXT.kindAnthropic },
  { value: "responses", label: TEXT.kindResponses },
  { value: "gemini", label: TEXT.kindGemini },
  { value: "azure", label: TEXT.kindAzure },
];

interface ConnectProps {
  /** A vendor of the catalogue, or the kind of another server. */
  readonly what: Vendor | string;
  readonly onClose: () => void;
}

/** Nothing is stored before *Connect*: a test sends the key with the question. */
export function Connect({ what, onClose }: ConnectProps) {
  const kind = KINDS.find(({ value }) => value === what);
  const name = typeof what !== "string" ? what.name : what === AZURE ? kind?.label : TEXT.otherServer;
  return (
    <Dialog title={TEXT.connectNamed(name ?? "")} onClose={onClose}>
      <ConnectForm what={what} onDone={onClose} />
    </Dialog>
  );
}

/** Its models ship under this name of a provider. */
const AZURE = "azure";
const AZURE_ID = "azure-openai";

interface ConnectFormProps {
  readonly what: Vendor | string;
  readonly onDone: () => void;
}

/** A vendor that ships needs a key only; another server also its address. */
export function ConnectForm({ what, onDone }: ConnectFormProps) {
  const isCustom = typeof what === "string";
  const [server, setServer] = useState<OtherServer>({
    id: isCustom ? (what === AZURE ? AZURE_ID : "") : what.id,
    kind: isCustom ? what : "",
    baseUrl: "",
    apiVersion: "",
    deployments: "",
  });
  const [apiKey, setApiKey] = useState("");
  const id = server.id.trim();
  const key = apiKey.trim() === "" ? {} : { apiKey: apiKey.trim() };
  const fields = isCustom ? { ...serverFields(server), ...key } : key;
  const { error, tested, busy, test, publish } = useConnecting(id, fields);
  const connect = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!(await publish())) return;
    showToast(TEXT.connected(isCustom ? id : what.name));
    // The sandbox may have ended with it.
    void loadSession();
    onDone();
  };
  return (
    <form onSubmit={connect}>
      {isCustom && <ServerFields server={server} onChange={setServer} />}
      <TextField
        label={TEXT.apiKey}
        type="password"
        value={apiKey}
        onInput={setApiKey}
        hint={isCustom ? TEXT.keyOptional : TEXT.keyHint}
        isRequired={!isCustom}
        isFocused={!isCustom}
      />
      <Problem error={error} />
      <div aria-live="polite">{tested !== null && <TestOutcome outcome={tested} />}</div>
      <footer>
        <Button isBusy={busy === "test"} isDisabled={id === ""} title={TEXT.testHint} onClick={test}>
          {busy === "test" ? TEXT.testing : TEXT.test}
        </Button>
        <Button kind="primary" type="submit" isBusy={busy === "connect"}>
          {TEXT.connect}
        </Button>
      </footer>
    </form>
  );
}

/** What a server needs that the catalogue does not know. */
interface OtherServer {
  readonly id: string;
  readonly kind: string;
  readonly baseUrl: string;
  readonly apiVersion: string;
  /** A line for each. */
  readonly deployments: string;
}

/** As the configuration has them; what was left empty is not sent. */
function serverFields({ kind, baseUrl, apiVersion, deployments }: OtherServer): object {
  const named = deployments.split("\n").map((line) => line.split(/[=:]/).map((word) => word.trim()));
  // A model without a name of its deployment is refused by the gateway.
  const pairs = named.filter(([model]) => model !== "").map(([model, name = ""]) => [model, name]);
  return {
    ...{ kind, baseUrl: baseUrl.trim() },
    ...(kind === AZURE && apiVersion.trim() !== "" && { apiVersion: apiVersion.trim() }),
    ...(kind === AZURE && pairs.length > 0 && { deployments: Object.fromEntries(pairs) }),
  };
}

interface ServerFieldsProps {
  readonly server: OtherServer;
  readonly onChange: (server: OtherServer) => void;
}

/** Name, format and address; what its operator calls the models of an Azure resource. */
function ServerFields({ server, onChange }: ServerFieldsProps) {
  const set = (field: keyof OtherServer) => (value: string) => onChange({ ...server, [field]: value });
  const isAzure = server.kind === AZURE;
  return (
    <>
      <TextField label={TEXT.id} value={server.id} onInput={set("id")} hint={TEXT.idHint} isRequired isFocused />
      <SelectField label={TEXT.kind} value={server.kind} options={KINDS} onChange={set("kind")} />
      <TextField
        label={TEXT.baseUrl}
        value={server.baseUrl}
        onInput={set("baseUrl")}
        placeholder={isAzure ? TEXT.azureUrlExample : TEXT.baseUrlExample}
        isRequired
      />
      {isAzure && (
        <>
          <TextField
            label={TEXT.apiVersion}
            value={server.apiVersion}
            onInput={set("apiVersion")}
            hint={TEXT.apiVersionHint}
          />
          <TextArea
            label={TEXT.deployments}
            value={server.deployments}
            onInput={set("deployments")}
            hint={TEXT.deploymentsHint}
            placeholder={TEXT.deploymentsExample}
            rows={3}
            isCode
          />
        </>
      )}
    </>
  );
}

/** The two questions of the form, one at a time, and what came of the last one. */
function useConnecting(id: string, fields: object) {
  const [error, setError] = useState<ApiError | null>(null);
  const [tested, setTested] = useState<ProviderTested | null>(null);
  const [busy, setBusy] = useState<"test" | "connect" | null>(null);
  const act = async <T,>(what: "test" | "connect", work: Promise<T>): Promise<T | null> => {
    setBusy(what);
    setError(null);
    setTested(null);
    const result = await work.catch((problem: unknown) => {
      setError(problem as ApiError);
      return null;
    });
    setBusy(null);
    return result;
  };
  const test = async (): Promise<void> => {
    const body = { draft: fields };
    const path = `/api/providers/${encodeURIComponent(id)}/test`;
    setTested(await act("test", call<ProviderTested>("POST", path, { body, isQuestion: true })));
  };
  const publish = async (): Promise<boolean> => {
    const work = call<object>("POST", "/api/providers", { body: { id, ...fields } });
    return (await act("connect", work)) !== null;
  };
  return { error, tested, busy, test, publish };
}
