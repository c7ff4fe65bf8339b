// Editing an own server: its address, and the models that it serves with price and capabilities. All of it is one version.

import { useState } from "preact/hooks";
import type { Capability } from "../../../src/core/model.ts";
import { call, useLoad } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { TextField } from "../../kit/field.tsx";
import { Shown } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { Capabilities } from "../../parts/capabilities.tsx";
import type { Configuration, Provider } from "../../types.ts";
import { showPublished } from "./published.ts";
import * as TEXT from "./text.ts";

/** A model as the configuration has it. Fields that the form does not show are kept. */
interface ServedModel {
  readonly id: string;
  readonly provider: string;
  readonly upstream?: string;
  readonly price?: { readonly input: number | string; readonly output: number | string };
  readonly capabilities?: readonly Capability[];
}

/** The parts of the document that the form changes. */
interface Document {
  readonly providers?: Readonly<Record<string, object>>;
  readonly models?: readonly ServedModel[];
  readonly tiers?: Readonly<Record<string, readonly string[]>>;
}

/** A vendor that ships has its models in the catalogue, so only its keys change here. */
export function isOwnServer({ configured }: Provider): boolean {
  return configured !== null && "baseUrl" in configured;
}

interface EditProps {
  readonly provider: Provider;
  readonly name: string;
  readonly onClose: () => void;
}

export function EditServer({ provider, name, onClose }: EditProps) {
  const load = useLoad<Configuration>("/api/configuration");
  return (
    <Dialog title={TEXT.editNamed(name)} onClose={onClose}>
      <Shown load={load} rows={4}>
        {(configuration) => (
          <EditForm
            key={configuration.version}
            {...{ provider, name, onClose }}
            base={configuration.version}
            document={configuration.document as Document}
          />
        )}
      </Shown>
    </Dialog>
  );
}

interface EditFormProps extends EditProps {
  readonly base: number;
  readonly document: Document;
}

function EditForm({ provider: { id, baseUrl }, name, onClose, base, document }: EditFormProps) {
  const [models, setModels] = useState(() => (document.models ?? []).filter(({ provider }) => provider === id));
  const [address, setAddress] = useState(baseUrl);
  const { problem, isBusy, run } = useTask();
  const set = (index: number, change: Partial<ServedModel>): void =>
    setModels(models.map((model, at) => (at === index ? { ...model, ...change } : model)));
  const save = (event: Event): void => {
    event.preventDefault();
    const next = documentWith(document, { id, address: address.trim(), models });
    void run(call("PUT", "/api/configuration", { body: { document: next, base } }), () => {
      showPublished(TEXT.edited(name));
      onClose();
    });
  };
  return (
    <form onSubmit={save}>
      <TextField label={TEXT.baseUrl} value={address} onInput={setAddress} isRequired />
      <p class="hint">{TEXT.editHint}</p>
      {models.map((model, index) => (
        <ModelFields
          key={index}
          model={model}
          onChange={(change) => set(index, change)}
          onRemove={() => setModels(models.filter((_, at) => at !== index))}
        />
      ))}
      <Button onClick={() => setModels([...models, newModel(id, models.at(-1))])}>{TEXT.addServed}</Button>
      <footer>
        {problem}
        <Button onClick={onClose}>{TEXT.cancel}</Button>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {TEXT.save}
        </Button>
      </footer>
    </form>
  );
}

interface ModelFieldsProps {
  readonly model: ServedModel;
  readonly onChange: (change: Partial<ServedModel>) => void;
  readonly onRemove: () => void;
}

function ModelFields({ model, onChange, onRemove }: ModelFieldsProps) {
  const { id, upstream = id, price = FREE, capabilities = [] } = model;
  const priceField = (side: "input" | "output", label: string) => (
    <TextField
      {...{ label, type: "number", min: "0", step: "any", isRequired: true }}
      value={String(price[side])}
      onInput={(text) => onChange({ price: { ...price, [side]: text } })}
    />
  );
  return (
    <section class="card">
      <TextField label={TEXT.upstream} value={upstream} onInput={(text) => onChange({ upstream: text })} isRequired />
      <div class="pair">
        {priceField("input", TEXT.inputPrice)}
        {priceField("output", TEXT.outputPrice)}
      </div>
      <Capabilities
        legend={TEXT.capabilitiesOf(upstream)}
        chosen={capabilities}
        onChange={(chosen) => onChange({ capabilities: chosen })}
      />
      <Button kind="quiet" label={TEXT.removeServed(upstream)} onClick={onRemove}>
        {TEXT.remove}
      </Button>
    </section>
  );
}

const FREE = { input: 0, output: 0 };

/** A further model of a server is usually like the one before it. */
function newModel(provider: string, like: ServedModel | undefined): ServedModel {
  return { id: "", provider, upstream: "", price: like?.price ?? FREE, capabilities: like?.capabilities ?? [] };
}

interface Edited {
  readonly id: string;
  readonly address: string;
  readonly models: readonly ServedModel[];
}

/** Puts the server into the document. Models that were removed leave their chains too. */
function documentWith(document: Document, { id, address, models }: Edited): Document {
  const rows = models.map((model) => ({
    ...model,
    id: model.id === "" ? (model.upstream ?? "") : model.id,
    price: {
      ...model.price,
      input: Number(model.price?.input ?? 0),
      output: Number(model.price?.output ?? 0),
    },
  }));
  const gone = new Set((document.models ?? []).filter(({ provider }) => provider === id).map((model) => model.id));
  for (const row of rows) gone.delete(row.id);
  const tiers = Object.entries(document.tiers ?? {})
    .map(([tier, chain]) => [tier, chain.filter((model) => !gone.has(model))] as const)
    .filter(([, chain]) => chain.length > 0);
  const others = (document.models ?? []).filter(({ provider }) => provider !== id);
  return {
    ...document,
    providers: { ...document.providers, [id]: { ...document.providers?.[id], baseUrl: address } },
    models: [...others, ...rows],
    tiers: Object.fromEntries(tiers),
  };
}
