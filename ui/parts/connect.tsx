// The form that connects a provider: paste a key, test it, connect. Also the first step of the checklist.

import { useState } from "preact/hooks";
import { type ApiError, call } from "../api.ts";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { SelectField, TextField } from "../kit/field.tsx";
import { Problem } from "../kit/states.tsx";
import { showToast } from "../kit/toast.tsx";
import { loadSession } from "../session.ts";
import type { Provider, ProviderTested, Vendor } from "../types.ts";
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
  /** Null for a server that is not in the catalogue. */
  readonly vendor: Vendor | null;
  /** The provider whose key is replaced; null for a new one. */
  readonly provider: Provider | null;
  readonly onClose: () => void;
}

/** Nothing is stored before *Connect*: a test sends the key with the question. */
export function Connect({ vendor, provider, onClose }: ConnectProps) {
  const name = vendor?.name ?? provider?.id ?? TEXT.otherServer;
  return (
    <Dialog title={provider === null ? TEXT.connectNamed(name) : TEXT.replaceKeyOf(name)} onClose={onClose}>
      <ConnectForm vendor={vendor} provider={provider} onDone={onClose} />
    </Dialog>
  );
}

interface ConnectFormProps {
  readonly vendor: Vendor | null;
  readonly provider: Provider | null;
  readonly onDone: () => void;
}

/** A vendor that ships needs a key only; another server also its address. */
export function ConnectForm({ vendor, provider, onDone }: ConnectFormProps) {
  const [server, setServer] = useState<OtherServer>({
    id: vendor?.id ?? provider?.id ?? "",
    kind: "openai",
    baseUrl: "",
  });
  const [apiKey, setApiKey] = useState("");
  const isCustom = vendor === null && provider === null;
  const id = server.id.trim();
  const key = apiKey.trim() === "" ? {} : { apiKey: apiKey.trim() };
  const fields = isCustom ? { kind: server.kind, baseUrl: server.baseUrl.trim(), ...key } : key;
  const { error, tested, busy, test, publish } = useConnecting(id, fields, provider === null);
  const connect = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!(await publish())) return;
    showToast(TEXT.connected(vendor?.name ?? id));
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
          {provider === null ? TEXT.connect : TEXT.replaceKey}
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
}

interface ServerFieldsProps {
  readonly server: OtherServer;
  readonly onChange: (server: OtherServer) => void;
}

/** Name, format and address. */
function ServerFields({ server, onChange }: ServerFieldsProps) {
  const set = (change: Partial<OtherServer>): void => onChange({ ...server, ...change });
  return (
    <>
      <TextField
        label={TEXT.id}
        value={server.id}
        onInput={(id) => set({ id })}
        hint={TEXT.idHint}
        isRequired
        isFocused
      />
      <SelectField label={TEXT.kind} value={server.kind} options={KINDS} onChange={(kind) => set({ kind })} />
      <TextField
        label={TEXT.baseUrl}
        value={server.baseUrl}
        onInput={(baseUrl) => set({ baseUrl })}
        placeholder={TEXT.baseUrlExample}
        isRequired
      />
    </>
  );
}

/** The two questions of the form, one at a time, and what came of the last one. */
function useConnecting(id: string, fields: object, isNew: boolean) {
  const [error, setError] = useState<ApiError | null>(null);
  const [tested, setTested] = useState<ProviderTested | null>(null);
  const [busy, setBusy] = useState<"test" | "connect" | null>(null);
  const path = `/api/providers/${encodeURIComponent(id)}`;
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
    setTested(await act("test", call<ProviderTested>("POST", `${path}/test`, { body, isQuestion: true })));
  };
  const publish = async (): Promise<boolean> => {
    const work = isNew
      ? call<object>("POST", "/api/providers", { body: { id, ...fields } })
      : call<object>("PATCH", path, { body: fields });
    return (await act("connect", work)) !== null;
  };
  return { error, tested, busy, test, publish };
}
