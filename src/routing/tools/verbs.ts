// Verb classes: what a request asks to have done, and what a tool does. "Cancel my order" and `place_order` share their
// object and not their action, so the tool does not fit.

/** Actions on things, in classes that tools and requests share. */
const CLASSES = {
  find: "get find search retrieve fetch list look lookup check show tell view read query display see browse explore locate detect identify track monitor lookup watch inspect determine recommend suggest provide describe what which who when where whats how is are does did know info information details status",
  create:
    "create add make new insert register open write post generate build save store upload start begin append publish submit set schedule plan compose draft log record enroll sign",
  change:
    "update change edit modify set rename move adjust replace increase decrease turn switch configure resize correct fix patch reschedule raise lower enable disable mark assign",
  remove:
    "delete remove cancel clear drop erase discard stop close end terminate unsubscribe revoke uninstall purge reset",
  buy: "buy order purchase book reserve rent pay checkout subscribe hire transfer deposit withdraw trade sell invest",
  send: "send email mail message text notify forward reply share invite call tell remind announce post tweet",
  play: "play pause resume skip listen stream shuffle watch put",
  compute:
    "calculate compute convert evaluate solve sum multiply divide count estimate predict analyze analyse compare measure simulate integrate derive translate summarize classify sort rank format parse validate verify forecast",
  run: "run execute launch invoke start call perform apply trigger deploy install compile test debug",
} as const;

type VerbClass = keyof typeof CLASSES;

const BY_WORD: ReadonlyMap<string, number> = gather();

function gather(): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [at, name] of (Object.keys(CLASSES) as VerbClass[]).entries()) {
    for (const word of CLASSES[name].split(" ")) found.set(word, (found.get(word) ?? 0) | (1 << at));
  }
  return found;
}

/** The classes of the verbs among some words, as bits; 0 where there is none. */
export function verbClassesOf(words: readonly string[]): number {
  let classes = 0;
  for (const word of words) classes |= BY_WORD.get(word) ?? inflected(word);
  return classes;
}

/** "Cancels", "canceled", "canceling". */
function inflected(word: string): number {
  const cut = word.endsWith("s") ? 1 : word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0;
  return cut === 0 ? 0 : (BY_WORD.get(word.slice(0, -cut)) ?? 0);
}

export function isVerb(word: string): boolean {
  return BY_WORD.has(word);
}
