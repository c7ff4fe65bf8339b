// The text of an HTML page, for models: paragraphs, headings, lists and links, without scripts and styles. Reads broken
// pages too, in one pass, so that no page takes longer than its length.

export interface PageText {
  readonly title: string;
  readonly text: string;
}

/** Elements whose content nobody reads. */
const SILENT: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "svg", "iframe", "textarea"]);
const BLOCKS: ReadonlySet<string> = new Set(
  "address article aside blockquote br dd div dl dt figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul".split(
    " ",
  ),
);
const LINK_CHARS_MAX = 300;
/** To read an address takes a while. */
const LINKS_MAX = 5_000;
const TITLE_CHARS_MAX = 1_000;
/** A tag that is longer is none. */
const TAG_CHARS_MAX = 4_000;

/** `base`: the page's own address, for its links. Reads no further once there are `charsMax` characters of text. */
export function htmlToText(html: string, base: string, charsMax = Number.POSITIVE_INFINITY): PageText {
  const out = new Text(base);
  for (let at = 0; at < html.length && out.length < charsMax; ) {
    const opening = html.indexOf("<", at);
    if (opening < 0) {
      out.add(html.slice(at));
      break;
    }
    out.add(html.slice(at, opening));
    at = readMarkup(html, opening, out);
  }
  return out.end();
}

/** Reads the markup that begins here, and returns where it ends. */
function readMarkup(html: string, at: number, out: Text): number {
  if (html.startsWith("<!--", at)) return after(html, "-->", at + 4);
  const next = html[at + 1] ?? "";
  if (!/[a-zA-Z/!?]/.test(next)) {
    out.add("<");
    return at + 1;
  }
  const end = tagEnd(html, at + 1);
  const [, slash = "", given = ""] = /^(\/?)([a-zA-Z][\w:-]{0,40})/.exec(html.slice(at + 1, at + 50)) ?? [];
  const name = given.toLowerCase();
  if (slash === "" && SILENT.has(name)) return closing(html, name, end);
  if (slash === "" && name === "title" && out.title === "") {
    const [title = ""] = html.slice(end, end + TITLE_CHARS_MAX).split("</", 1);
    out.title = decoded(title).trim();
    return end + title.length;
  }
  out.tag(name, slash === "" ? html.slice(at, end) : null);
  return end;
}

/** The place behind a tag. A quoted value may hold a bracket. */
function tagEnd(html: string, at: number): number {
  let quote = "";
  const last = Math.min(html.length, at + TAG_CHARS_MAX);
  for (let place = at; place < last; place += 1) {
    const char = html[place] as string;
    if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === ">") return place + 1;
    else if ((char === '"' || char === "'") && html[place - 1] === "=") quote = char;
  }
  const plain = html.slice(at, last).indexOf(">");
  return plain < 0 ? last : at + plain + 1;
}

/** Elements that are never closed hide the rest of the page. */
function closing(html: string, name: string, at: number): number {
  for (let place = html.indexOf("</", at); place >= 0; place = html.indexOf("</", place + 2)) {
    if (html.slice(place + 2, place + 2 + name.length).toLowerCase() === name) return after(html, ">", place);
  }
  return html.length;
}

function after(html: string, mark: string, at: number): number {
  const place = html.indexOf(mark, at);
  return place < 0 ? html.length : place + mark.length;
}

class Text {
  title = "";
  /** Characters so far, about. */
  length = 0;
  #links = 0;
  readonly #base: string;
  readonly #pieces: string[] = [];
  #link: { readonly tag: string; readonly from: number } | null = null;

  constructor(base: string) {
    this.#base = base;
  }

  add(raw: string): void {
    if (raw !== "") this.#push(decoded(raw).replace(/\s+/g, " "));
  }

  /** `opened` is the whole tag, null for one that closes. */
  tag(name: string, opened: string | null): void {
    if (name === "a") this.#linked(opened);
    else if (BLOCKS.has(name)) {
      const isHeading = opened !== null && /^h[1-6]$/.test(name);
      this.#push(opened !== null && name === "li" ? "\n- " : isHeading ? `\n\n${"#".repeat(Number(name[1]))} ` : "\n");
    }
  }

  #push(piece: string): void {
    this.#pieces.push(piece);
    this.length += piece.length;
  }

  #linked(opened: string | null): void {
    const link = this.#link;
    this.#link = null;
    if (opened !== null) {
      this.#link = { tag: opened, from: this.#pieces.length };
      return;
    }
    if (link === null || this.#links === LINKS_MAX || this.#pieces.length === link.from) return;
    this.#links += 1;
    const href = hrefIn(link.tag, this.#base);
    if (href === null) return;
    const said = this.#pieces.splice(link.from).join("").replace(/\s+/g, " ").trim();
    if (said !== "") this.#push(`[${said}](${href})`);
  }

  end(): PageText {
    const text = this.#pieces
      .join("")
      .split("\n")
      .map((line) => line.replace(/ +/g, " ").trim())
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
    return { title: this.title.replace(/\s+/g, " "), text };
  }
}

function hrefIn(tag: string, base: string): string | null {
  const [, double, single, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag) ?? [];
  const given = decoded(double ?? single ?? bare ?? "").trim();
  if (given === "" || given.startsWith("#") || !URL.canParse(given, base)) return null;
  const { protocol, href } = new URL(given, base);
  return /^https?:$/.test(protocol) && href.length <= LINK_CHARS_MAX ? href : null;
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", ndash: "–", mdash: "—", hellip: "…" },
  ...{ lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", bull: "•", middot: "·", copy: "©", reg: "®", trade: "™" },
  ...{ euro: "€", pound: "£", times: "×", rarr: "→", larr: "←", shy: "", auml: "ä", ouml: "ö", uuml: "ü", szlig: "ß" },
  ...{ eacute: "é", egrave: "è", agrave: "à", ccedil: "ç", ntilde: "ñ", deg: "°" },
};
const CHARACTERS = 0x10ffff;

function decoded(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,10}));/g, (all, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name as string] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code > 0 && code <= CHARACTERS && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : " ";
  });
}
