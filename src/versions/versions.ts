// Versions of the run-time configuration: published one after the other, each checked as a whole before it counts. This
// process follows the newest one that it can serve with.

import { isDeepStrictEqual } from "node:util";
import type { Catalog } from "../catalog/catalog.ts";
import type { Checked, Configuration, Lock } from "../config/settings.ts";
import { GatewayError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Provider } from "../core/model.ts";
import {
  type ConfigVersion,
  isJsonMap,
  type JsonMap,
  NO_OVERLAY,
  type Overlay,
  type VersionStore,
} from "../core/overlay.ts";
import { type Change, changesBetween } from "./changes.ts";
import { entryAt, patched, withEntry } from "./document.ts";
import type { Problems, VersionEvent } from "./events.ts";
import { stampPrices } from "./prices.ts";
import { openDocument, type SecretSealer, sealDocument } from "./secrets.ts";

type Usable = Extract<Checked, { ok: true }>;

/** Change of the configuration, with its author and the version they started from. */
export interface Publication {
  readonly author: string;
  readonly note?: string;
  /** The version the author has seen; null to change whatever is newest. */
  readonly base?: number | null;
  /** Makes the next document. Its secrets are text where they are new. */
  change(document: Overlay): Overlay;
  /** A document that is stored already keeps its secrets as they are. */
  readonly isStored?: boolean;
  /** Says that prices of the change come with date and source, so they get none here. */
  readonly isDated?: boolean;
}

export interface Published {
  readonly version: ConfigVersion;
  readonly changes: readonly Change[];
  readonly warnings: Problems;
}

export interface Versions {
  /** The newest version, whether or not it can be served with. */
  newest(): ConfigVersion;
  /** The number of the version that requests are served with, and what stands in the way of a newer one. */
  serving(): { readonly number: number; readonly problems: Problems };
  readonly locks: readonly Lock[];
  publish(publication: Publication): Promise<Published>;
  /** Publishes an older version again. */
  rollBack(number: number, by: Pick<Publication, "author" | "note" | "base">): Promise<Published>;
  /** Checks what a draft would be served with, and stores nothing. Throws with every problem of the draft. */
  draft(change: Publication["change"], author: string): Promise<Usable>;
  /** A provider as a draft has it, for a test, and its catalogue where the whole draft passes the checks. */
  draftProvider(id: string, fields: JsonMap, author: string): Promise<DraftProvider>;
  find(number: number): Promise<ConfigVersion | null>;
  /** Newest first. */
  list(page: { readonly limit: number; readonly before: number }): Promise<readonly ConfigVersion[]>;
  /** Something may have changed elsewhere. */
  nudge(): void;
  /** Serves with the newest usable version, then follows the changes of other processes. */
  start(): Promise<void>;
  stop(): void;
}

interface DraftProvider {
  readonly provider: Provider;
  readonly catalog: Catalog | null;
}

interface VersionsContext {
  readonly store: VersionStore;
  /** Configuration that can be changed at run time. */
  readonly configuration: Configuration;
  readonly sealer: SecretSealer | null;
  /** Called with each configuration to serve with from now on. */
  readonly onServe: (checked: Usable) => void;
  /** Gets the events of versions that this process observes. */
  readonly onEvent?: (event: VersionEvent) => void;
  readonly log: Log;
  readonly now: () => number;
  readonly pollMs?: number;
}

/** A change must be served with everywhere within five seconds. Behaviour 1. */
const POLL_MS = 2_000;
/** Limit of tries to publish a change without a base, each after another change came first. */
const TRIES_MAX = 5;
const DOCUMENT_BYTES_MAX = 1024 * 1024;
const EMPTY: ConfigVersion = { number: 0, author: "", atMs: 0, note: "", document: NO_OVERLAY };

export function createVersions(context: VersionsContext): Versions {
  return new VersionFollower(context);
}

class VersionFollower implements Versions {
  readonly #context: VersionsContext;
  #newest = EMPTY;
  #serving = 0;
  #problems: Problems = [];
  #isReachable = true;
  #timer: NodeJS.Timeout | null = null;
  #using: Promise<unknown> | null = null;

  constructor(context: VersionsContext) {
    this.#context = context;
  }

  newest(): ConfigVersion {
    return this.#newest;
  }

  serving() {
    return { number: this.#serving, problems: this.#problems };
  }

  get locks(): readonly Lock[] {
    return this.#context.configuration.locks;
  }

  find(number: number): Promise<ConfigVersion | null> {
    return number === 0 ? Promise.resolve(EMPTY) : this.#context.store.find(number);
  }

  list(page: { readonly limit: number; readonly before: number }): Promise<readonly ConfigVersion[]> {
    return this.#context.store.list(page);
  }

  async publish(publication: Publication): Promise<Published> {
    for (let tries = 1; ; tries += 1) {
      await this.#catchUp();
      const { base = null } = publication;
      if (base !== null && base !== this.#newest.number) throw await this.#conflict(base);
      const published = await this.#publishOn(this.#newest, publication);
      if (published !== null) return published;
      if (tries >= TRIES_MAX) throw await this.#conflict(this.#newest.number);
    }
  }

  async rollBack(number: number, by: Pick<Publication, "author" | "note" | "base">): Promise<Published> {
    const version = await this.find(number);
    if (version === null) throw new GatewayError("notFound", `No version ${number}.`, { param: "number" });
    const { note = `Roll back to version ${number}` } = by;
    return this.publish({ ...by, note, isStored: true, change: () => version.document });
  }

  async draft(change: Publication["change"], author: string): Promise<Usable> {
    await this.#catchUp();
    const { document, checked } = await this.#prepare(this.#newest, { author, change });
    refuseLocked(this.locks, changesBetween(this.#newest.document, document), document);
    return checked;
  }

  async draftProvider(id: string, fields: JsonMap, author: string): Promise<DraftProvider> {
    const { sealer, now, configuration } = this.#context;
    const { document: previous } = this.#newest;
    const wanted = withEntry(previous, "providers", id, patched(entryAt(previous, "providers", id), fields));
    const sealed = await sealDocument(wanted, { previous, setBy: author, nowMs: now(), sealer });
    refuseLocked(this.locks, changesBetween(previous, sealed), sealed);
    const checked = await this.#check(sealed, this.#newest.number);
    const opened = await openDocument(sealed, sealer);
    const catalog = checked.ok ? checked.catalog : null;
    const provider = catalog?.providers.get(id) ?? configuration.provider(opened.document, id);
    if (provider === null) throw refused(checked.ok ? [] : checked.problems);
    return { provider, catalog };
  }

  nudge(): void {
    if (this.#timer !== null) void this.#poll();
  }

  async start(): Promise<void> {
    await this.#catchUp();
    if (this.#serving < this.#newest.number) await this.#serveLastGood();
    this.#timer = setInterval(() => void this.#poll(), this.#context.pollMs ?? POLL_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Returns null when another version came first. */
  async #publishOn(previous: ConfigVersion, publication: Publication): Promise<Published | null> {
    const { log, now } = this.#context;
    const { author, note = "" } = publication;
    const { document, checked } = await this.#prepare(previous, publication);
    const changes = changesBetween(previous.document, document);
    const { warnings } = checked;
    if (isDeepStrictEqual(document, previous.document)) return { version: previous, changes: [], warnings };
    refuseLocked(this.locks, changes, document);
    const version = { number: previous.number + 1, author, atMs: now(), note, document };
    if (!(await this.#alone(() => this.#insert(version)))) return null;
    const words = changes.map((change) => change.words);
    log.info({ event: "config.published", version: version.number, author, changes: words }, "configuration changed");
    this.#serve(version, checked);
    return { version, changes, warnings };
  }

  /** The next document with its secrets sealed, checked as a whole. */
  async #prepare(previous: ConfigVersion, { author, change, isStored = false, isDated = isStored }: Publication) {
    const { sealer, now } = this.#context;
    const wanted = change(previous.document);
    const nowMs = now();
    const stamped = isDated ? wanted : stampPrices(wanted, previous.document, nowMs);
    const document = isStored
      ? stamped
      : await sealDocument(stamped, { previous: previous.document, setBy: author, nowMs, sealer });
    const checked = await this.#check(document, previous.number + 1);
    if (!checked.ok) throw refused(checked.problems);
    if (Buffer.byteLength(JSON.stringify(document)) > DOCUMENT_BYTES_MAX) {
      throw new GatewayError("unprocessable", "The run-time configuration is larger than 1 MB.");
    }
    return { document, checked };
  }

  async #check(document: Overlay, version: number): Promise<Checked> {
    const { configuration, sealer, onEvent } = this.#context;
    const opened = await openDocument(document, sealer);
    for (const provider of opened.unreadable) onEvent?.({ kind: "keyUnreadable", version, provider });
    return configuration.check(opened.document);
  }

  #note(version: ConfigVersion): void {
    if (version.number > this.#newest.number) this.#newest = version;
  }

  /** Not when a newer one came meanwhile. */
  #serve(version: ConfigVersion, checked: Usable): void {
    if (version.number <= this.#serving) return;
    this.#serving = version.number;
    this.#problems = [];
    this.#context.onServe(checked);
  }

  #catchUp(): Promise<void> {
    return this.#alone(() => this.#readNewest());
  }

  /** One use of the store at a time: a reading beside an insert would take an own version for that of another process. */
  async #alone<T>(use: () => Promise<T>): Promise<T> {
    while (this.#using !== null) await this.#using.catch(() => undefined);
    const using = use().finally(() => {
      this.#using = null;
    });
    this.#using = using;
    return using;
  }

  /** False when another version came first. */
  async #insert(version: ConfigVersion): Promise<boolean> {
    const isInserted = await this.#context.store.insert(version);
    if (isInserted) this.#note(version);
    return isInserted;
  }

  async #readNewest(): Promise<void> {
    const { store, onEvent, now } = this.#context;
    const number = await store.newest();
    if (number <= this.#newest.number) return;
    const version = await store.find(number);
    if (version === null) return;
    this.#note(version);
    const checked = await this.#check(version.document, version.number);
    if (!checked.ok) return this.#report(version, checked.problems);
    this.#serve(version, checked);
    // Not at the start, which finds what is old.
    if (this.#timer !== null) onEvent?.({ kind: "followed", version: number, delayMs: now() - version.atMs });
  }

  /** At the start, after an upgrade perhaps: an older version is better than none. */
  async #serveLastGood(): Promise<void> {
    for (let before = this.#newest.number; before > 0; ) {
      const older = await this.list({ limit: PAGE, before });
      for (const version of older) {
        const checked = await this.#check(version.document, version.number);
        if (!checked.ok) continue;
        const problems = this.#problems;
        this.#serve(version, checked);
        this.#problems = problems;
        return;
      }
      if (older.length < PAGE) return;
      before = older.at(-1)?.number ?? 0;
    }
  }

  #report({ number: version }: ConfigVersion, problems: Problems): void {
    this.#problems = problems;
    this.#context.onEvent?.({ kind: "unusable", version, problems });
  }

  async #poll(): Promise<void> {
    const { onEvent } = this.#context;
    try {
      await this.#catchUp();
      if (!this.#isReachable) onEvent?.({ kind: "reloadRecovered" });
      this.#isReachable = true;
    } catch (error) {
      if (this.#isReachable) onEvent?.({ kind: "reloadFailed", error });
      this.#isReachable = false;
    }
  }

  async #conflict(base: number): Promise<GatewayError> {
    const seen = await this.find(base);
    const { number, author, document } = this.#newest;
    const changes = changesBetween(seen?.document ?? NO_OVERLAY, document).map(({ words }) => words);
    const message = `The configuration is at version ${number} by ${author}, not at ${base}. Since then: ${changes.join("; ") || "nothing that differs"}.`;
    return new GatewayError("conflict", message, { code: "version_conflict", param: "base" });
  }
}

/** Versions that are looked at together when the newest cannot be used. */
const PAGE = 20;

function refused(problems: Problems): GatewayError {
  const lines = problems.map(
    ({ place, message, suggestion }) =>
      `${place}: ${message}.${suggestion === null ? "" : ` Did you mean "${suggestion}"?`}`,
  );
  const [first] = problems;
  const details = { code: "invalid_configuration", problems, ...(first === undefined ? {} : { param: first.place }) };
  return new GatewayError("unprocessable", lines.join("\n"), details);
}

function refuseLocked(locks: readonly Lock[], changes: readonly Change[], document: Overlay): void {
  for (const { path } of changes) {
    const isBroken = ({ path: locked }: Lock): boolean =>
      `${path}.`.startsWith(`${locked}.`) || (locked.startsWith(`${path}.`) && isWritten(document, locked));
    const lock = locks.find(isBroken);
    if (lock === undefined) continue;
    const message = `'${lock.path}' is set in ${lock.place}, so it cannot be changed here. Change it there.`;
    throw new GatewayError("conflict", message, { code: "locked", param: lock.path });
  }
}

/** Tells whether a document sets a field. The change of an added entry names no field of it. */
function isWritten(document: Overlay, path: string): boolean {
  const [section = "", id = "", field = ""] = path.split(".");
  const entry = entryAt(document, section, id);
  return isJsonMap(entry) && Object.hasOwn(entry, field);
}
