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
  const [id, setId] = useState(vendor?.id ?? provider?.id ?? "");
  const [kind, setKind] = useState("openai");
  const [baseUrl, setBaseUrl] = useState("");
  const [apiKey, setApiKey] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const [tested, setTested] = useState<ProviderTested | null>(null);
  const [busy, setBusy] = useState<"test" | "connect" | null>(null);
  const isCustom = vendor === null && provider === null;
  const key = apiKey.trim() === "" ? {} : { apiKey: apiKey.trim() };
  const fields = isCustom ? { kind, baseUrl: baseUrl.trim(), ...key } : key;
  const path = `/api/providers/${encodeURIComponent(id.trim())}`;

  const act = async <T,>(what: "test" | "connect", work: () => Promise<T>): Promise<T | null> => {
    setBusy(what);
    setError(null);
    setTested(null);
    const result = await work().catch((problem: unknown) => {
      setError(problem as ApiError);
      return null;
    });
    setBusy(null);
    return result;
  };
  const test = async (): Promise<void> => {
    const body = { draft: fields };
    const ask = () => call<ProviderTested>("POST", `${path}/test`, { body, isQuestion: true });
    setTested(await act("test", ask));
  };
  const connect = async (event: Event): Promise<void> => {
    event.preventDefault();
    const publish = () =>
      provider === null
        ? call("POST", "/api/providers", { body: { id: id.trim(), ...fields } })
        : call("PATCH", path, { body: fields });
    if ((await act("connect", publish)) === null) return;
    showToast(TEXT.connected(vendor?.name ?? id));
    // The sandbox may have ended with it.
    void loadSession();
    onDone();
  };
  return (
    <form onSubmit={connect}>
      {isCustom && (
        <>
          <TextField label={TEXT.id} value={id} onInput={setId} hint={TEXT.idHint} isRequired isFocused />
          <SelectField label={TEXT.kind} value={kind} options={KINDS} onChange={setKind} />
          <TextField
            label={TEXT.baseUrl}
            value={baseUrl}
            onInput={setBaseUrl}
            placeholder={TEXT.baseUrlExample}
            isRequired
          />
        </>
      )}
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
        <Button isBusy={busy === "test"} isDisabled={id.trim() === ""} title={TEXT.testHint} onClick={test}>
          {busy === "test" ? TEXT.testing : TEXT.test}
        </Button>
        <Button kind="primary" type="submit" isBusy={busy === "connect"}>
          {provider === null ? TEXT.connect : TEXT.replaceKey}
        </Button>
      </footer>
    </form>
  );
}
