// Repeats: what in a request speaks for the same call with other values. A list longer than one call takes, a slot that is
// filled twice ("radius of 5 and radius of 9"), ordinals. Each pattern is linear in the length of a bounded text.

/** Kinds of values that stand in lists: quoted texts, groups in brackets, numbers, proper names. */
const QUOTED = String.raw`"[^"\n]{1,60}"|'[^'\n]{1,60}'|\u0060[^\u0060\n]{1,60}\u0060|“[^”\n]{1,60}”`;
const GROUP = String.raw`\[[^\]\n]{1,200}\]|\([^)\n]{1,60}\)`;
const AMOUNT = String.raw`[$€£¥]?-?\d(?:[\d.,]{0,19}\d)?(?:%| ?[\p{Ll}°]{1,12})?`;
const NAME = String.raw`\p{Lu}[\p{L}\d.&'’-]{0,30}(?: (?:of |de |the )?\p{Lu}[\p{L}\d.&'’-]{0,30}){0,4}(?:, [A-Z]{2}\b)?`;
const HAN = String.raw`[\p{sc=Han}\p{sc=Katakana}\p{sc=Hangul}]{1,12}`;
const SEAM = `(?:[,;，；、和与及] ?(?:and |or )?| (?:and|or|und|y|et|e|и|&) )(?:the |also |for |in |from )?`;

/** Kinds of items in a list, which decide which parameters could take the list. */
export type ListKind = "text" | "number" | "group";

const LISTS: readonly (readonly [kind: ListKind, pattern: RegExp, item: RegExp])[] = (
  [
    ["text", QUOTED],
    ["group", GROUP],
    ["number", AMOUNT],
    ["text", NAME],
    ["text", HAN],
  ] as const
).map(([kind, item]) => [kind, new RegExp(`(?:${item})(?:${SEAM}(?:${item})){1,24}`, "gu"), new RegExp(item, "gu")]);

const COMMA_INSIDE = /([,;])(["'”])/g;

/** The most values of one kind in a row; 0 where there is no list. `plain` is the text without what stands in brackets. */
export function longestLists(text: string, plain: string): Readonly<Record<ListKind, number>> {
  const longest = { text: 0, number: 0, group: 0 };
  const read = plain.replace(COMMA_INSIDE, "$2$1");
  for (const [kind, pattern, item] of LISTS) {
    for (const [list] of (kind === "group" ? text : read).matchAll(pattern)) {
      longest[kind] = Math.max(longest[kind], (list.match(item) ?? []).length);
    }
  }
  return longest;
}

/** Counts groups in square brackets that stand in no other group. */
export function groupsIn(text: string): number {
  let depth = 0;
  let groups = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5b && depth++ === 0) groups++;
    else if (code === 0x5d && depth > 0) depth--;
  }
  return groups;
}

/** Addresses of pages and of mail, and codes of letters and a number: "W-118", "AF 12". */
const IDENTIFIER =
  /(https?:\/\/)[^\s,;)\]"'<>]{3,200}|[\w.+-]{1,60}(@)[\w-]{1,60}\.[\w.-]{1,60}|(?<![\p{L}\d.:/@-])(\p{L}{1,12})[-_#]?\d{1,12}(?![\p{L}\d])|(?<![\p{L}\d])(\p{Lu}{2,4}) \d{1,6}(?![\p{L}\d])/gu;

/** Counts the different identifiers of each kind and returns the largest count. */
export function mostAlike(text: string): number {
  const kinds = new Map<string, Set<string>>();
  let most = 0;
  for (const [whole, ...kind] of text.matchAll(IDENTIFIER)) {
    const key = kind.find((part) => part !== undefined)?.toLowerCase() ?? "";
    const known = kinds.get(key) ?? new Set();
    kinds.set(key, known.add(whole));
    most = Math.max(most, known.size);
  }
  return most;
}

/** A word, and what follows it like a value: "radius of 5", "in Paris", "named 'x'". */
const SLOT =
  /(?<![\p{L}])(\p{Ll}{2,20})(?: (?:of|is|are|was|at|to|as|equals?|named|called|being))?(?:[:=] ?| )(?:the |a )?(?:[$€£¥"'“`[(]|\d|\p{Lu}\p{Ll})/gu;
/** Words that are followed by values of any meaning. */
const NO_SLOT = new Set("and or the a an then also is are was of".split(" "));
const SLOT_CHARS = 5;

/** Returns how often the slot that is filled most often is filled. */
export function mostFilled(text: string): number {
  const counts = new Map<string, number>();
  let most = 0;
  for (const [, word = ""] of text.matchAll(SLOT)) {
    if (NO_SLOT.has(word)) continue;
    const slot = word.slice(0, SLOT_CHARS);
    const count = (counts.get(slot) ?? 0) + 1;
    counts.set(slot, count);
    if (count > most) most = count;
  }
  return most;
}

const ORDINAL =
  /\b(?:(?<!per )(?<!a )second(?!s)|first(?:ly)?|third|fourth|lastly|finally|another|the other|next,)\b/gi;

/** Counts the different ordinals: "the first sample, the second one". */
export function ordinalsIn(text: string): number {
  return new Set(text.toLowerCase().match(ORDINAL) ?? []).size;
}
