// The providers that are connected, with health, keys and use, and tiles of those that could be.

import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { duration, plural, usd } from "../../format.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Section } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { CLOUDS } from "../../parts/connect/clouds.ts";
import { Connect } from "../../parts/connect/form.tsx";
import { alarmOf } from "../../parts/provider-state.ts";
import { SignInLine, useProviderTest } from "../../parts/provider-test.tsx";
import { hrefTo } from "../../router.ts";
import type { Explore, List, Model, Provider, Vendor } from "../../types.ts";
import { EditServer, isOwnServer } from "./edit.tsx";
import { isDown, KeyList, Keys, Refusal } from "./keys.tsx";
import { LocalServers } from "./local.tsx";
import { showPublished } from "./published.ts";
import * as TEXT from "./text.ts";

/** Interval of reading health, which changes by itself. */
const EVERY_MS = 10_000;

/** Connected ones first. What can be connected is below. */
export function ProviderList() {
  const providers = useLoad<List<Provider>>("/api/providers", { everyMs: EVERY_MS });
  const vendors = useLoad<List<Vendor>>("/api/vendors");
  // A vendor that ships, or another server of a kind.
  const [connecting, setConnecting] = useState<Vendor | string | null>(null);
  const vendorOf = (id: string): Vendor | null => vendors.data?.data.find((vendor) => vendor.id === id) ?? null;
  return (
    <>
      <Shown load={providers} rows={4}>
        {({ data }) => (
          <>
            <Connected providers={data} vendorOf={vendorOf} />
            <Shown load={vendors} rows={4}>
              {({ data: known }) => (
                <Vendors
                  vendors={known.filter(({ id }) => !data.some((provider) => provider.id === id))}
                  onChoose={setConnecting}
                />
              )}
            </Shown>
          </>
        )}
      </Shown>
      {connecting !== null && <Connect what={connecting} onClose={() => setConnecting(null)} />}
    </>
  );
}

interface ConnectedProps {
  readonly providers: readonly Provider[];
  readonly vendorOf: (id: string) => Vendor | null;
}

/** A metric of the last 24 hours, for each provider that answered. */
function useDay(metric: string) {
  const rows = useLoad<Explore>(`/api/explore?metric=${metric}&by=provider&top=50&from=-24h`).data?.data ?? [];
  return (id: string) => rows.find(({ by }) => by[0]?.value === id);
}

/** The sandbox stands in until the first provider is connected. */
function Connected({ providers, vendorOf }: ConnectedProps) {
  const models = useLoad<List<Model>>("/api/models").data?.data ?? [];
  const [costOf, medianOf] = [useDay("cost"), useDay("latencyP50")];
  const shown = providers.filter(({ id }) => id !== "sandbox");
  if (shown.length === 0) return <Empty title={TEXT.noneConnected}>{TEXT.noneConnectedHint}</Empty>;
  return (
    <ul class="plain-list cards">
      {shown.map((provider) => {
        const { id } = provider;
        const isHere = (host: Model["hosts"][number]): boolean => host.isRoutable && host.provider === id;
        return (
          <Card
            key={id}
            provider={provider}
            name={vendorOf(id)?.name ?? id}
            models={models.filter(({ hosts }) => hosts.some(isHere))}
            usage={useText(costOf(id), medianOf(id))}
          />
        );
      })}
    </ul>
  );
}

interface ProviderCardProps {
  readonly provider: Provider;
  readonly name: string;
  readonly models: readonly Model[];
  /** Spend and latency of the last 24 hours. */
  readonly usage: string;
}

/** Shows one provider. One that file or environment set is locked, since it can only be changed there. */
function Card({ provider, name, models, usage }: ProviderCardProps) {
  const { id, kind, baseUrl, locked, problem } = provider;
  const { button, outcome } = useProviderTest(id);
  const [isRemoving, setRemoving] = useState(false);
  const [isKeying, setKeying] = useState(false);
  const [isEditing, setEditing] = useState(false);
  return (
    <li class="card">
      <h2 class="row">
        <span class="grow cut">{name}</span>
        <State provider={provider} />
      </h2>
      <p class="faint cut" title={baseUrl}>
        {[kind, baseUrl].filter(Boolean).join(" · ")}
      </p>
      <p>
        <a href={hrefTo("/models", { q: id })}>{plural(models.length, "model")}</a> · {usage}
      </p>
      <p class="faint">{TEXT.policy(provider.region, provider.dataPolicy)}</p>
      {problem !== null && <p class="notice warn">{problem}</p>}
      {models.length > 0 && models.every(({ chains }) => chains.length === 0) && (
        <p class="notice">
          {TEXT.inNoChain} <a href={hrefTo("/providers", { tab: "chains" })}>{TEXT.chains}</a>.
        </p>
      )}
      <KeyList provider={provider} />
      <SignInLine signIn={provider.signIn} />
      {locked !== null && <p class="faint">{TEXT.lockedBy(locked.place)}</p>}
      <p class="row">
        {button}
        {locked === null && (
          <>
            {isOwnServer(provider) && (
              <Button kind="quiet" label={TEXT.editNamed(name)} onClick={() => setEditing(true)}>
                {TEXT.edit}
              </Button>
            )}
            <Button kind="quiet" label={TEXT.keysOf(name)} onClick={() => setKeying(true)}>
              {TEXT.keys}
            </Button>
            <Button kind="quiet" label={TEXT.removeNamed(name)} onClick={() => setRemoving(true)}>
              {TEXT.remove}
            </Button>
          </>
        )}
      </p>
      {outcome}
      {isEditing && <EditServer provider={provider} name={name} onClose={() => setEditing(false)} />}
      {isKeying && <Keys provider={provider} name={name} onClose={() => setKeying(false)} />}
      {isRemoving && <Removal id={id} name={name} onClose={() => setRemoving(false)} />}
    </li>
  );
}

/** A few words; the rest is the tooltip. */
function State({ provider }: { readonly provider: Provider }) {
  const { health, credential } = provider;
  if (isDown(credential) && alarmOf(provider)?.isOfKey !== false) return <Refusal health={credential} />;
  if (isDown(health)) {
    return (
      <span class="status bad" title={health?.lastError ?? ""}>
        {TEXT.coolingDown}
      </span>
    );
  }
  return health === null ? (
    <span class="faint">{TEXT.unused}</span>
  ) : (
    <span class={`status ${health.consecutiveFailures === 0 ? "good" : "caution"}`} title={health.lastError ?? ""}>
      {health.consecutiveFailures === 0 ? TEXT.healthy : TEXT.failing}
    </span>
  );
}

/** Writes spend and latency of every request that a provider answered, whatever the model. */
function useText(cost: Explored | undefined, median: Explored | undefined): string {
  if (cost === undefined) return TEXT.notUsedToday;
  const { value = null } = median ?? {};
  return TEXT.usedToday(
    usd(cost.value),
    plural(cost.requests, "request"),
    duration(value === null ? null : Number(value)),
  );
}

type Explored = Explore["data"][number];

interface RemovalProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** A removed provider can be brought back from the history. */
function Removal({ id, name, onClose }: RemovalProps) {
  const { problem, isBusy, run } = useTask();
  const remove = (): Promise<void> =>
    run(call("DELETE", `/api/providers/${encodeURIComponent(id)}?models=remove`), () => {
      showPublished(TEXT.removed(name));
      onClose();
    });
  return (
    <Dialog title={TEXT.removeNamed(name)} onClose={onClose}>
      <p>{TEXT.removeHint}</p>
      {problem}
      <footer>
        <Button onClick={onClose}>{TEXT.cancel}</Button>
        <Button kind="danger" isBusy={isBusy} onClick={remove}>
          {TEXT.remove}
        </Button>
      </footer>
    </Dialog>
  );
}

interface VendorsProps {
  readonly vendors: readonly Vendor[];
  /** A text is the kind of any other server. */
  readonly onChoose: (what: Vendor | string) => void;
}

/** Servers that need an address, by their kind. */
const OTHERS = [
  ["azure", TEXT.azure, TEXT.azureHint],
  ...CLOUDS.map(({ kind, name, hint }) => [kind, name, hint] as const),
  ["openai", TEXT.otherServer, TEXT.otherServerHint],
] as const;

/** One press and a key connect a vendor with all of its models. */
function Vendors({ vendors, onChoose }: VendorsProps) {
  const [isLooking, setLooking] = useState(false);
  return (
    <Section title={TEXT.connectAProvider}>
      <ul class="plain-list vendors">
        {[...vendors.map((vendor) => [vendor, vendor.name, plural(vendor.models, "model")] as const), ...OTHERS].map(
          ([what, name, hint]) => (
            <li key={name}>
              <button type="button" class="vendor" onClick={() => onChoose(what)}>
                <b>{name}</b>
                <small class="faint">{hint}</small>
              </button>
            </li>
          ),
        )}
      </ul>
      <p class="row">
        <Button onClick={() => setLooking(true)}>{TEXT.lookForServers}</Button>
        <ButtonLink href="/docs/start/providers">{TEXT.documentation}</ButtonLink>
      </p>
      {isLooking && <LocalServers onClose={() => setLooking(false)} />}
    </Section>
  );
}
