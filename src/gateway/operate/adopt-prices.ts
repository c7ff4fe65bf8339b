// A price check that takes over what two feeds agree on, and models that are new at a provider, as one version of the
// configuration. Everything else waits for an operator.

import { readBuiltin } from "../../catalog/builtin.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { findModel } from "../../catalog/model-names.ts";
import { withTaken } from "../../catalog/prices/anchors.ts";
import { isStale, type PriceCheck } from "../../catalog/prices/check.ts";
import { FEED_IDS, type FeedId, feedSource } from "../../catalog/prices/feeds.ts";
import { type Newcomer, newcomers, newModels } from "../../catalog/prices/newcomers.ts";
import { changeName, hostName, type Proposal, priceMark, reviewPrices } from "../../catalog/prices/review.ts";
import type { Settings } from "../../config/settings.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { formatsOf, type HostedModel, type Model } from "../../core/model.ts";
import type { Overlay } from "../../core/overlay.ts";
import type { RateCard } from "../../core/price.ts";
import type { AuditEntry } from "../../store/audit/entry.ts";
import type { AuditLog } from "../../store/audit/log.ts";
import {
  dayOf,
  isOperatorPrice,
  newModelId,
  sortChanges,
  withHosts,
  withModel,
  withPrices,
} from "../../versions/adoption.ts";
import type { Publication, Versions } from "../../versions/versions.ts";
import type { Services } from "../services.ts";
import * as TEXT from "../text.ts";
import { type CheckedPrices, checkPrices, type PriceServices } from "./check-prices.ts";
import { feedAddresses, feedPlaces, waitingIn } from "./feed-places.ts";

export interface AdoptionServices extends Pick<PriceServices, "checks" | "now" | "withinMs"> {
  readonly prices: Settings["prices"];
  readonly versions: Versions;
  readonly audit: Pick<AuditLog, "during">;
  readonly current: () => Pick<Services, "catalog" | "registry">;
  readonly log: Log;
}

/** Reads, takes over and logs. With checks off, an operator's check takes nothing over. */
export async function checkAndAdopt(services: AdoptionServices): Promise<PriceCheck> {
  const { prices, current, checks, log } = services;
  const { catalog, registry } = current();
  const checked = await checkPrices(feedPlaces(prices), { ...services, catalog, registry });
  const { check } = checked;
  const adopted = prices.priceCheck === "off" ? check : await adopt(checked, services);
  if (adopted !== check) await checks.write(adopted);
  report(adopted, services, log);
  return adopted;
}

/** Prices and models to take over, by the newest catalogue. */
interface Takeover {
  readonly prices: readonly Proposal[];
  readonly models: readonly TakenModel[];
}

interface TakenModel {
  readonly id: string;
  /** Says that the configuration has the model already, at another provider. */
  readonly isKnown: boolean;
  /** Ids of rows for provisional hosts of a model that others know, in the order of the hosts. */
  readonly rowIds?: readonly string[];
  readonly hosts: readonly Newcomer[];
}

/** A model that the configuration refuses must not keep prices from being taken over. */
async function adopt(checked: CheckedPrices, services: AdoptionServices): Promise<PriceCheck> {
  for (const hasModels of [true, false]) {
    const { prices, models } = takeover(checked, services, hasModels);
    if (prices.length + models.length === 0) break;
    try {
      return await publish(checked, services, hasModels);
    } catch (error) {
      services.log.warn({ event: "prices.unadopted", err: error }, "what a price check found could not be taken over");
      if (!(error instanceof GatewayError)) break;
    }
  }
  return checked.check;
}

/** Judged again on the newest version, so that a price that an operator wrote meanwhile stays. */
async function publish(checked: CheckedPrices, services: AdoptionServices, hasModels: boolean): Promise<PriceCheck> {
  const { check } = checked;
  const { current, now, prices } = services;
  const asOf = dayOf(now());
  const planned = takeover(checked, services, hasModels);
  let taken = planned;
  const change = (document: Overlay): Overlay => {
    taken = takeover(checked, services, hasModels);
    const dated = taken.prices.map(({ model, provider, upstream, to, feeds, startsOn }) => ({
      ...{ model, provider, upstream, price: to, stamp: { asOf, source: feedSource(feeds) } },
      ...(startsOn === undefined ? {} : { startsOn }),
    }));
    return taken.models.reduce(
      (next, { id, isKnown, rowIds, hosts }) => {
        const isChained = prices.adoption === "auto" && hosts.every(({ isChainable }) => isChainable);
        const stamped = hosts.map(({ feeds, isChainable: _, ...found }) => ({
          ...{ ...found, stamp: { asOf, source: feedSource(feeds) } },
          provisional: isChained ? ("chain" as const) : ("named" as const),
        }));
        if (rowIds !== undefined) {
          const rows = stamped.map((host, at) => ({ ...host, hostOf: id, rowId: rowIds[at] as string }));
          return rows.reduce((with_, { rowId, ...host }) => withModel(with_, rowId, host), next);
        }
        const [first, ...others] = stamped;
        if (first === undefined || isKnown) return withHosts(next, id, stamped);
        return withHosts(withModel(next, id, first), id, others);
      },
      withPrices(document, current().catalog.models, dated),
    );
  };
  await publishRecorded({ author: authorOf(planned), note: noteOf(planned), isDated: true, change }, services);
  const marks = taken.prices.map((each) => [changeName(each), priceMark(each.to)]);
  const hosts = taken.models.flatMap((model) => model.hosts);
  const added = hosts.map((each) => [hostName(each), priceMark(each.price)]);
  const first = hosts.map((host) => ({ ...host, from: null, fromAsOf: asOf, to: host.price, anchor: null }));
  const anchors = withTaken(check.anchors, [...taken.prices, ...first]);
  return { ...check, adopted: { ...check.adopted, ...Object.fromEntries([...marks, ...added]) }, anchors };
}

function takeover({ check, before }: CheckedPrices, services: AdoptionServices, hasModels: boolean): Takeover {
  const { prices, versions, current, now } = services;
  const { catalog } = current();
  const { proposals } = reviewPrices(catalog, check, prices.priceMaxChangePercent);
  const agreed = proposals.filter(({ standing }) => standing === "agreed");
  const { free } = sortChanges(agreed, versions.locks, feedAddresses(prices));
  const isOn = hasModels && prices.adoption !== "off";
  const terms = { catalogDay: readBuiltin().tiers.asOf, today: dayOf(now()), before };
  const found = isOn ? newcomers(catalog, check, terms).filter((each) => isSpoken(each, catalog)) : [];
  const ids = new Set(catalog.models.keys());
  const paths = new Set(versions.locks.map(({ path }) => path));
  const isOwn = ({ priceSource }: HostedModel): boolean => isOperatorPrice(priceSource, feedAddresses(prices));
  // What an operator wrote of a model stays whole.
  const mayJoin = ({ id, hosts }: Model): boolean => !paths.has(`models.${id}`) && !hosts.some(isOwn);
  const models = newModels(catalog, found, mayJoin).flatMap(
    ({ known, isProven, hosts: all }): readonly TakenModel[] => {
      // A name under which clients know another model keeps its meaning, whatever a provider calls its own.
      const isOtherName = ({ upstream }: Newcomer): boolean =>
        !ids.has(upstream) && (findModel(catalog, upstream)?.id ?? known) !== known;
      const hosts = all.filter((each) => !isOtherName(each));
      const [first] = hosts;
      if (first === undefined) return [];
      if (known !== null && isProven) {
        const rowIds = hosts.map(({ upstream, provider }) => newModelId(upstream, provider, { models: ids }));
        for (const id of rowIds) ids.add(id);
        return [{ id: known, isKnown: true, rowIds, hosts }];
      }
      if (known !== null) return [{ id: known, isKnown: true, hosts }];
      const id = newModelId(first.upstream, first.provider, { models: ids });
      if (ids.has(id)) return [];
      ids.add(id);
      return [{ id, isKnown: false, hosts }];
    },
  );
  return { prices: free, models };
}

/** A model that its provider has in another format alone cannot be called. */
function isSpoken({ provider: id, formats = [] }: Newcomer, { providers }: Catalog): boolean {
  const provider = providers.get(id);
  if (provider === undefined) return false;
  const spoken = formatsOf({}, provider);
  return formats.every((format) => spoken.includes(format));
}

/** Publishes with an entry in the audit log. */
async function publishRecorded(
  publication: Publication,
  { versions, audit, log, now }: Pick<AdoptionServices, "versions" | "audit" | "log" | "now">,
): Promise<void> {
  await audit.during(entryOf(publication.author, now()), {
    make: () => versions.publish(publication),
    describe: ({ version, changes }, { entry }) =>
      changes.length === 0
        ? null
        : { ...entry, after: { version: version.number, changes: changes.map(({ words }) => words) } },
    isRefusal: (error) => error instanceof GatewayError,
    onLost: (err, { action }) => log.error({ event: "audit.failed", err, action }, "audit entry not written"),
  });
}

function entryOf(feeds: string, atMs: number): AuditEntry {
  return {
    ...{ atMs, actor: { kind: "feed", name: feeds, accountId: null }, action: "adoptPrices", object: "prices" },
    ...{ accountId: null, outcome: "done", address: null, requestId: null, before: null, after: null },
  };
}

const NAMED_MAX = 20;
const NOTE_MAX = 500;

function authorOf({ prices, models }: Takeover): string {
  const found = models.flatMap(({ hosts }) => hosts);
  const named = new Set<FeedId>([...prices, ...found].flatMap(({ feeds }) => feeds));
  return feedSource(FEED_IDS.filter((feed) => named.has(feed)));
}

function noteOf({ prices, models }: Takeover): string {
  const parts = [
    [TEXT.pricesTaken, [...new Set(prices.map(({ model }) => model))]],
    [TEXT.provisionalModels, models.map(({ id }) => id)],
  ] as const;
  const words = parts.flatMap(([of, ids]) => {
    const more = ids.length > NAMED_MAX ? TEXT.andMore(ids.length - NAMED_MAX) : "";
    return ids.length === 0 ? [] : [of(`${ids.slice(0, NAMED_MAX).join(", ")}${more}`)];
  });
  return words.join(". ").slice(0, NOTE_MAX);
}

/** Logs what an operator should look at. */
function report(check: PriceCheck, { prices, versions, current }: AdoptionServices, log: Log): void {
  const review = reviewPrices(current().catalog, check, prices.priceMaxChangePercent);
  const waiting = waitingIn(review.proposals, versions, prices);
  if (waiting.length + review.refused.length > 0) {
    const models = waiting.map(({ model }) => model);
    const changes = waiting.map(describe);
    const refused = review.refused.map(({ model, reason }) => `${model}: ${reason}`);
    log.warn(
      { event: "prices.differ", models, changes, refused },
      "prices differ from the feeds and wait for an operator",
    );
  }
  for (const state of check.feeds) {
    const { feed, problem, lost, changedAtMs } = state;
    if (problem !== null)
      log.warn({ event: "prices.unavailable", feed, reason: problem }, "a price feed could not be read");
    if (isStale(state, check.atMs)) {
      const changedAt = new Date(changedAtMs).toISOString();
      log.warn({ event: "prices.stale", feed, changedAt }, "a price feed has not changed for weeks and has no vote");
    }
    if (lost.length > 0) log.warn({ event: "prices.lost", feed, models: lost }, "a price feed lists models no more");
  }
}

/** A change in one line of the log: USD per million tokens, input and output. */
function describe({ model, provider, from, to, standing, anchor, startsOn }: Proposal): object {
  const pair = ({ input, output }: Pick<RateCard, "input" | "output">): string => `${input / 1e6} / ${output / 1e6}`;
  return {
    ...{ model, provider, from: from === null ? null : pair(from), to: pair(to), standing },
    ...(anchor === null ? {} : { confirmed: pair(anchor.price) }),
    ...(startsOn === undefined ? {} : { startsOn }),
  };
}
