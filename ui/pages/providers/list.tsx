// The providers that are connected, with health, keys and use, and tiles of those that could be.

import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { ago, duration, plural, usd } from "../../format.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Section } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { Connect } from "../../parts/connect.tsx";
import { useProviderTest } from "../../parts/provider-test.tsx";
import { hrefTo } from "../../router.ts";
import type { HealthState, List, Model, Provider, Usage, Vendor } from "../../types.ts";
import { LocalServers } from "./local.tsx";
import { showPublished, useTask } from "./task.tsx";
import * as TEXT from "./text.ts";

/** Health changes by itself, so it is watched. */
const EVERY_MS = 10_000;

/** What the dialog connects: a vendor that ships, a provider that gets another key, or any other server. */
type Connecting = { readonly vendor: Vendor | null; readonly provider: Provider | null };

/** Connected ones first. What can be connected is below. */
export function ProviderList() {
  const providers = useLoad<List<Provider>>("/api/providers", { everyMs: EVERY_MS });
  const vendors = useLoad<List<Vendor>>("/api/vendors");
  const [connecting, setConnecting] = useState<Connecting | null>(null);
  const vendorOf = (id: string): Vendor | null => vendors.data?.data.find((vendor) => vendor.id === id) ?? null;
  return (
    <>
      <Shown load={providers} rows={4}>
        {({ data }) => (
          <>
            <Connected
              providers={data}
              vendorOf={vendorOf}
              onKey={(provider) => setConnecting({ vendor: vendorOf(provider.id), provider })}
            />
            <Shown load={vendors} rows={4}>
              {({ data: known }) => (
                <Vendors
                  vendors={known.filter(({ id }) => !data.some((provider) => provider.id === id))}
                  onChoose={(vendor) => setConnecting({ vendor, provider: null })}
                />
              )}
            </Shown>
          </>
        )}
      </Shown>
      {connecting !== null && <Connect {...connecting} onClose={() => setConnecting(null)} />}
    </>
  );
}

interface ConnectedProps {
  readonly providers: readonly Provider[];
  readonly vendorOf: (id: string) => Vendor | null;
  readonly onKey: (provider: Provider) => void;
}

/** The sandbox stands in until the first provider is connected. */
function Connected({ providers, vendorOf, onKey }: ConnectedProps) {
  const models = useLoad<List<Model>>("/api/models").data?.data ?? [];
  const usage = useLoad<List<Usage>>("/api/usage?by=total&group=model&from=-24h").data?.data ?? [];
  const shown = providers.filter(({ kind }) => kind !== "sandbox");
  if (shown.length === 0) return <Empty title={TEXT.noneConnected}>{TEXT.noneConnectedHint}</Empty>;
  return (
    <ul class="plain-list cards">
      {shown.map((provider) => {
        const served = models.filter((model) => model.isRoutable && model.provider === provider.id).map(({ id }) => id);
        return (
          <Card
            key={provider.id}
            provider={provider}
            name={vendorOf(provider.id)?.name ?? provider.id}
            models={served.length}
            usage={usage.filter(({ group }) => served.includes(group ?? ""))}
            onKey={() => onKey(provider)}
          />
        );
      })}
    </ul>
  );
}

interface ProviderCardProps {
  readonly provider: Provider;
  readonly name: string;
  readonly models: number;
  /** The last 24 hours, one row for each of its models. */
  readonly usage: readonly Usage[];
  readonly onKey: () => void;
}

/** What file or environment set is shown as locked: only there can it be changed. */
function Card({ provider, name, models, usage, onKey }: ProviderCardProps) {
  const { id, kind, baseUrl, locked, configured } = provider;
  const { button, outcome } = useProviderTest(id);
  const [isRemoving, setRemoving] = useState(false);
  return (
    <li class="card">
      <h2 class="row">
        <span class="grow cut">{name}</span>
        <State provider={provider} />
      </h2>
      <p class="faint cut" title={baseUrl}>
        {kind} · {baseUrl}
      </p>
      <p>
        <a href={hrefTo("/models", { q: id })}>{plural(models, "model")}</a> · {useText(usage)}
      </p>
      <Keys configured={configured} />
      {locked !== null && <p class="faint">{TEXT.lockedBy(locked.place)}</p>}
      <p class="row">
        {button}
        {locked === null && (
          <Button kind="quiet" label={TEXT.replaceKeyOf(name)} onClick={onKey}>
            {TEXT.replaceKey}
          </Button>
        )}
        {locked === null && configured !== null && (
          <Button kind="quiet" label={TEXT.removeNamed(name)} onClick={() => setRemoving(true)}>
            {TEXT.remove}
          </Button>
        )}
      </p>
      {outcome}
      {isRemoving && <Removal id={id} name={name} onClose={() => setRemoving(false)} />}
    </li>
  );
}

/** One word; the rest is the tooltip. */
function State({ provider: { health, credential } }: { readonly provider: Provider }) {
  const refused = isDown(credential);
  if (refused || isDown(health)) {
    return (
      <span class="status bad" title={(refused ? credential : health)?.lastError ?? ""}>
        {refused ? TEXT.keyRefused : TEXT.coolingDown}
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

function isDown(health: HealthState | null): boolean {
  return health !== null && health.state !== "closed";
}

/** Spend and latency of the last 24 hours. The slowest model's median stands for all: it is what a caller may meet. */
function useText(usage: readonly Usage[]): string {
  const requests = usage.reduce((sum, row) => sum + row.requests, 0);
  if (requests === 0) return TEXT.notUsedToday;
  const spent = usage.reduce((sum, row) => sum + Number(row.chargeUsd), 0);
  const medians = usage.map(({ latency }) => latency.p50Ms).filter((ms) => ms !== null);
  const slowest = medians.length === 0 ? "–" : duration(Math.max(...medians));
  return TEXT.usedToday(usd(spent), plural(requests, "request"), slowest);
}

/** The end of each key that was set here, who set it and when. The key itself is never sent back. */
function Keys({ configured }: { readonly configured: Provider["configured"] }) {
  const { apiKey, apiKeys } = (configured ?? {}) as {
    apiKey?: ShownKey;
    apiKeys?: readonly (ShownKey | WeightedKey)[];
  };
  const keys = [...(apiKey === undefined ? [] : [apiKey]), ...(apiKeys ?? [])];
  return (
    <>
      {keys.map((each, index) => {
        const { lastFour, setBy, setAt } = "key" in each ? each.key : each;
        return (
          <p key={index} class="faint">
            <code>…{lastFour}</code> {TEXT.setByWhen(setBy, ago(setAt))}
          </p>
        );
      })}
    </>
  );
}

interface ShownKey {
  readonly lastFour: string;
  readonly setBy: string;
  readonly setAt: string;
}
interface WeightedKey {
  readonly key: ShownKey;
}

interface RemovalProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** A removed provider can be brought back from the history. */
function Removal({ id, name, onClose }: RemovalProps) {
  const { problem, isBusy, run } = useTask();
  const remove = (): Promise<void> =>
    run(call("DELETE", `/api/providers/${encodeURIComponent(id)}`), () => {
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
  /** Null is any other server. */
  readonly onChoose: (vendor: Vendor | null) => void;
}

/** One press and a key connect a vendor with all of its models. */
function Vendors({ vendors, onChoose }: VendorsProps) {
  const [isLooking, setLooking] = useState(false);
  return (
    <Section title={TEXT.connectAProvider}>
      <ul class="plain-list vendors">
        {vendors.map((vendor) => (
          <li key={vendor.id}>
            <button type="button" class="vendor" onClick={() => onChoose(vendor)}>
              <b>{vendor.name}</b>
              <small class="faint">{plural(vendor.models, "model")}</small>
            </button>
          </li>
        ))}
        <li>
          <button type="button" class="vendor" onClick={() => onChoose(null)}>
            <b>{TEXT.otherServer}</b>
            <small class="faint">{TEXT.otherServerHint}</small>
          </button>
        </li>
      </ul>
      <p>
        <Button onClick={() => setLooking(true)}>{TEXT.lookForServers}</Button>
      </p>
      {isLooking && <LocalServers onClose={() => setLooking(false)} />}
      <p class="faint">
        {TEXT.storedEncrypted} <ButtonLink href="/docs/start/providers">{TEXT.documentation}</ButtonLink>
      </p>
    </Section>
  );
}
