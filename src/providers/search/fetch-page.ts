// Fetches a page for a model. Every address on the way is judged before it is dialled, also behind redirects; time, size
// and redirects are bounded, and a page that hangs, lies or leads elsewhere costs nothing: the model reads why.

import type { LookupFunction } from "node:net";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { Agent, request } from "undici";
import { hostKind } from "../../config/network.ts";
import type { CancelSignal } from "../../core/cancellation.ts";
import type { Log } from "../../core/log.ts";
import type { FetchBounds, PageFetcher, SearchOutcome } from "../../core/search/web-search.ts";
import { htmlToText } from "../../formats/tools/html-text.ts";
import { boundedPage, isWithin } from "../../formats/tools/searches.ts";
import { mayRobotsRead } from "./robots.ts";

export interface PageFetchOptions {
  readonly rate: number;
  readonly timeoutMs: number;
  /** Refuses names that lead where no page may be fetched. */
  readonly lookup: LookupFunction;
  readonly allowsPrivate: boolean;
  readonly asksRobots: boolean;
  readonly log: Log;
}

const URL_CHARS_MAX = 2_000;
const REDIRECTS_MAX = 5;
/** Bytes that are read of a page, packed or not. The rest is left out. */
const PAGE_BYTES_MAX = 2 * 1024 * 1024;
/** Characters that are read of a page for each byte that the model reads: spaces between them are left out later. */
const TEXT_PER_BYTE = 4;
const ROBOTS_BYTES_MAX = 256 * 1024;
const TOO_MANY = 429;
const AGENT_NAME = "switchyard";

type Fault = Extract<SearchOutcome, { readonly ok: false }>;
const failed = (fault: Fault["fault"]): Fault => ({ ok: false, fault });

export function createPageFetcher(options: PageFetchOptions): PageFetcher {
  const { rate, log } = options;
  return {
    rate,
    async read(url, bounds, signal) {
      try {
        return await fetchPage(url, bounds, { ...options, signal });
      } catch (error) {
        if (!signal.aborted) log.warn({ event: "fetch.failed", err: error }, "fetching a page failed");
        return failed("url_not_accessible");
      }
    },
  };
}

interface PageCall extends PageFetchOptions {
  readonly signal: CancelSignal;
}

async function fetchPage(given: string, bounds: FetchBounds, options: PageCall): Promise<SearchOutcome> {
  const { timeoutMs, lookup, signal } = options;
  const left = new AbortController();
  const leave = (): void => left.abort();
  signal.addEventListener("abort", leave);
  const agent = new Agent({ connect: { lookup, timeout: timeoutMs } });
  try {
    if (signal.aborted) leave();
    const ends = AbortSignal.any([left.signal, AbortSignal.timeout(timeoutMs)]);
    return await follow(given, bounds, { ...options, agent, ends });
  } finally {
    signal.removeEventListener("abort", leave);
    await agent.destroy();
  }
}

interface OpenRead extends PageCall {
  readonly agent: Agent;
  readonly ends: AbortSignal;
}

async function follow(given: string, bounds: FetchBounds, asking: OpenRead): Promise<SearchOutcome> {
  let url = given;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    if (url.length > URL_CHARS_MAX) return failed("url_too_long");
    if (!mayCall(url, asking.allowsPrivate) || !isWithin(url, bounds.domains)) return failed("url_not_allowed");
    if (asking.asksRobots && !(await isOpenToRobots(url, asking))) return failed("url_not_allowed");
    const answer = await get(url, asking);
    const { statusCode: status, headers } = answer;
    const { location } = headers;
    if (status >= 300 && status <= 399 && typeof location === "string") {
      answer.body.destroy();
      if (!URL.canParse(location, url)) return failed("url_not_accessible");
      url = new URL(location, url).href;
      continue;
    }
    if (status < 200 || status > 299) {
      answer.body.destroy();
      return failed(status === TOO_MANY ? "too_many_requests" : "url_not_accessible");
    }
    return readPage(url, answer, bounds);
  }
  return failed("url_not_accessible");
}

type PageAnswer = Awaited<ReturnType<typeof request>>;

async function get(url: string, { agent, ends }: OpenRead): Promise<PageAnswer> {
  const headers = {
    "user-agent": `${AGENT_NAME} (reads single pages that a request names)`,
    accept: "text/html, text/plain, application/json;q=0.9, */*;q=0.1",
    "accept-encoding": "identity",
  };
  const answer = await request(url, { method: "GET", headers, dispatcher: agent, signal: ends });
  // A body that is not read to its end says so when it is dropped.
  answer.body.on("error", () => undefined);
  return answer;
}

/** A name is judged when it is looked up, an address in digits here. */
function mayCall(url: string, allowsPrivate: boolean): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  if (!/^https?:$/.test(protocol) || username !== "" || password !== "") return false;
  const kind = hostKind(hostname);
  return kind !== "forbidden" && (kind !== "private" || allowsPrivate);
}

/** A site whose rules cannot be read has none, as its standard says. */
async function isOpenToRobots(url: string, asking: OpenRead): Promise<boolean> {
  const { origin, pathname, search } = new URL(url);
  const answer = await get(`${origin}/robots.txt`, asking);
  if (answer.statusCode !== 200) {
    answer.body.destroy();
    return answer.statusCode < 500;
  }
  const { bytes } = await readUpTo(answer.body, ROBOTS_BYTES_MAX);
  return mayRobotsRead(bytes.toString("utf8"), AGENT_NAME, pathname + search);
}

const HTML = /^(text\/html|application\/xhtml\+xml)$/;
const PLAIN = /^(text\/.+|application\/(.+\+)?(json|xml|yaml)|application\/x-ndjson)$/;

async function readPage(url: string, { headers, body }: PageAnswer, bounds: FetchBounds): Promise<SearchOutcome> {
  const [type = "", ...parameters] = String(headers["content-type"] ?? "")
    .toLowerCase()
    .split(";");
  const kind = type.trim();
  const isHtml = HTML.test(kind);
  if (!isHtml && !PLAIN.test(kind)) {
    body.destroy();
    return failed("unsupported_content_type");
  }
  const { bytes: packed, isCut } = await readUpTo(body, PAGE_BYTES_MAX);
  const bytes = await unpacked(packed, String(headers["content-encoding"] ?? ""), isCut);
  if (bytes === null) return failed("unsupported_content_type");
  const told = parameters.map((each) => /charset=["']?([\w-]+)/.exec(each)?.[1]).find((each) => each !== undefined);
  const raw = decode(bytes, told ?? (isHtml ? charsetOf(bytes) : undefined));
  const page = isHtml ? htmlToText(raw, url, TEXT_PER_BYTE * bounds.bytesMax) : { title: "", text: raw };
  return { ok: true, pages: [boundedPage({ url, title: page.title || url, text: page.text }, bounds.bytesMax)] };
}

async function readUpTo(
  body: PageAnswer["body"],
  bytesMax: number,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > bytesMax) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, bytesMax), isCut: length > bytesMax };
}

const UNPACKERS = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Some servers pack although they were asked not to. A page that grows beyond the bound is refused: null. */
async function unpacked(bytes: Buffer, encoding: string, isCut: boolean): Promise<Buffer | null> {
  const name = encoding.trim().toLowerCase();
  if (name === "" || name === "identity") return bytes;
  if (!Object.hasOwn(UNPACKERS, name) || isCut) return null;
  return UNPACKERS[name as keyof typeof UNPACKERS](bytes, { maxOutputLength: PAGE_BYTES_MAX });
}

function charsetOf(bytes: Buffer): string | undefined {
  return /<meta[^>]{0,200}charset=["']?([\w-]+)/i.exec(bytes.subarray(0, 2_048).toString("latin1"))?.[1];
}

function decode(bytes: Buffer, charset = "utf-8"): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
