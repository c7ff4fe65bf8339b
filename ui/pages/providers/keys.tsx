// The keys of a provider: added, weighed, switched off and removed. A stored key is known by its last characters and an id.

import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { ago } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { useTask } from "../../kit/task.tsx";
import { TestOutcome } from "../../parts/provider-test.tsx";
import type { HealthState, Provider, ProviderTested } from "../../types.ts";
import { showPublished } from "./published.ts";
import * as TEXT from "./text.ts";

interface ShownKey {
  readonly id: string;
  readonly lastFour: string;
  readonly setBy: string;
  readonly setAt: string;
}

/** A key that is stored, or the text of a new one. */
interface KeyRow {
  readonly key: ShownKey | string;
  readonly weight: number;
}

/** A key with a weight, as the configuration stores it. */
interface StoredKey {
  readonly key: ShownKey;
  readonly weight?: number;
}

/** Lists the keys that were set in the dashboard. Keys from a file or the environment are not among them. */
function keysOf({ configured }: Provider): readonly KeyRow[] {
  const { apiKey, apiKeys = [] } = (configured ?? {}) as {
    apiKey?: ShownKey;
    apiKeys?: readonly (ShownKey | StoredKey)[];
  };
  return [...(apiKey === undefined ? [] : [apiKey]), ...apiKeys].map((each) =>
    "key" in each ? { key: each.key, weight: each.weight ?? 1 } : { key: each, weight: 1 },
  );
}

/** The end of each key, who set it and when, or else its id; and how each of several fares. */
export function KeyList({ provider }: { readonly provider: Provider }) {
  const stored = keysOf(provider);
  const inUse = [...provider.keys];
  const rows = stored.length > 0 ? stored : inUse.map(({ id, weight }) => ({ key: id, weight }));
  return (
    <>
      {rows.map(({ key, weight }, index) => {
        const health = weight > 0 ? inUse.shift() : undefined;
        return (
          <p key={index} class="faint">
            <code>{nameOf(key)}</code> {rows.length > 1 && `× ${weight} `}
            {typeof key !== "string" && TEXT.setByWhen(key.setBy, ago(key.setAt))}{" "}
            {isDown(health) && <Refusal health={health} />}
          </p>
        );
      })}
    </>
  );
}

/** Says why requests with a key are refused. The status follows after a comma and stays in the title. */
export function Refusal({ health }: { readonly health: HealthState | null | undefined }) {
  const error = health?.lastError ?? "";
  return (
    <span class="status bad" title={error}>
      {error.split(",")[0]}
    </span>
  );
}

export function isDown(health: HealthState | null | undefined): boolean {
  return (health?.state ?? "closed") !== "closed";
}

function nameOf(key: KeyRow["key"]): string {
  return typeof key === "string" ? key : `…${key.lastFour} ${key.id}`;
}

interface KeysProps {
  readonly provider: Provider;
  readonly name: string;
  readonly onClose: () => void;
}

/** Saves all keys of a provider in one version. A test takes the newest key alone. */
export function Keys({ provider, name, onClose }: KeysProps) {
  const stored = keysOf(provider);
  const [rows, setRows] = useState(stored.length > 0 ? stored : [NEW]);
  const [tested, setTested] = useState<ProviderTested | null>(null);
  const { problem, isBusy, run } = useTask();
  const path = `/api/providers/${encodeURIComponent(provider.id)}`;
  const apiKeys = rows.filter(({ key }) => key !== "");
  const isNone = apiKeys.length === 0;
  const configured = provider.configured as { readonly baseUrl?: string } | null;
  // A vendor at its own address needs a key. Another server may need none.
  const lacksKey = isNone && configured?.baseUrl === undefined && provider.kind !== "ollama";
  const set = (index: number, change: Partial<KeyRow>): void =>
    setRows(rows.map((row, at) => (at === index ? { ...row, ...change } : row)));
  const test = (): Promise<void> => {
    setTested(null);
    const body = { draft: { apiKey: null, apiKeys: [{ key: apiKeys.at(-1)?.key }] } };
    return run(call<ProviderTested>("POST", `${path}/test`, { body, isQuestion: true }), setTested);
  };
  const save = (event: Event): void => {
    event.preventDefault();
    void run(call("PATCH", path, { body: { apiKey: null, apiKeys: isNone ? null : apiKeys } }), () => {
      showPublished(TEXT.keysSaved);
      onClose();
    });
  };
  return (
    <Dialog title={TEXT.keysOf(name)} onClose={onClose}>
      <form onSubmit={save}>
        {rows.map((row, index) => (
          <KeyFields
            key={index}
            row={row}
            number={index + 1}
            onChange={(change) => set(index, change)}
            onRemove={() => setRows(rows.filter((_, at) => at !== index))}
          />
        ))}
        <Button onClick={() => setRows([...rows, NEW])}>{TEXT.addKey}</Button>
        <p class="faint">{lacksKey ? TEXT.lastKey : isNone ? TEXT.withoutKey : TEXT.weightHint}</p>
        {problem}
        <div aria-live="polite">{tested !== null && <TestOutcome outcome={tested} />}</div>
        <footer>
          <Button isBusy={isBusy} isDisabled={isNone} onClick={test}>
            {TEXT.testNewest}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy} isDisabled={lacksKey}>
            {TEXT.save}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

const NEW: KeyRow = { key: "", weight: 1 };

interface ProviderKeyProps {
  readonly row: KeyRow;
  readonly number: number;
  readonly onChange: (change: Partial<KeyRow>) => void;
  readonly onRemove: () => void;
}

/** One key. A key that is stored cannot be edited: it is removed, and another one added. */
function KeyFields({ row: { key, weight }, number, onChange, onRemove }: ProviderKeyProps) {
  return (
    <p class="row">
      {typeof key === "string" ? (
        <input
          class="grow"
          type="password"
          autocomplete="off"
          aria-label={TEXT.keyNumber(number)}
          placeholder={TEXT.pasteKey}
          value={key}
          onInput={(event) => onChange({ key: event.currentTarget.value.trim() })}
        />
      ) : (
        <code class="grow">{nameOf(key)}</code>
      )}
      <input
        type="number"
        min="0"
        max="1000"
        step="any"
        required
        aria-label={TEXT.weightOf(number)}
        value={weight}
        onInput={(event) => onChange({ weight: event.currentTarget.valueAsNumber })}
      />
      <Button kind="quiet" label={TEXT.removeKey(number)} onClick={onRemove}>
        ✕
      </Button>
    </p>
  );
}
