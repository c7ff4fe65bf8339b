// What a request says apart from what it asks: greetings, thanks, identifiers and reference lines at its ends. They are cut
// before anything is measured, so that they move no tier. Looks at the ends only, whatever the length of the text.

/** Characters at either end in which courtesies are looked for. */
const END_CHARS = 80;
/** Greeting, please and thank you may follow one another; more than this is no courtesy. */
const CUTS_MAX = 4;

const GREETING =
  "hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|hallo|moin|servus|guten (?:tag|morgen|abend)|bonjour|bonsoir|salut|hola|buen(?:os días|as tardes|as noches)|olá|oi|bom dia|boa (?:tarde|noite)|ciao|buongiorno|buonasera|привет|здравствуй(?:те)?|добрый день|merhaba|selam|hej|cześć|dzień dobry";
const COMPANY =
  "there|again|all|everyone|everybody|team|folks|guys|friend|assistant|ai|bot|zusammen|à tous|a todos|a tutti|всем";
const PLEASE =
  "please|pls|plz|kindly|bitte|por favor|s'il (?:te|vous) pla[iî]t|svp|per (?:favore|piacere)|пожалуйста|lütfen|proszę|alsjeblieft|snälla";
const THANKS =
  "thanks|thank you|thx|many thanks|much appreciated|cheers|danke|vielen dank|merci|gracias|muchas gracias|grazie|obrigad[oa]|спасибо|teşekkürler|dziękuję|bedankt|tack";
const HOW_MUCH =
  "so much|very much|a lot|a bunch|a million|in advance|again|schön|sehr|im voraus|beaucoup|d'avance|de antemano|de antemão|mille|in anticipo|большое|заранее";

/** A greeting or "please" before the request. */
const OPENING = new RegExp(
  `^(?:(?:${GREETING})(?: (?:${COMPANY}))?(?:[,.!:;–—-]+\\s*|\\s+)|(?:${PLEASE})[,:]?\\s+|(?:你好|您好|こんにちは|안녕하세요)[，,。.!！、\\s]*)(?=\\S)`,
  "u",
);
/** Thanks behind it, apart from the request or with emphasis: "how do you say thank you" asks for just that. */
const CLOSING = new RegExp(
  `(?:(?<=[,.!?;:\\n]) *\\n*(?:${THANKS})(?: (?:${HOW_MUCH}))*[\\s.!]*|\\s(?:${THANKS})(?: (?:${HOW_MUCH}))*\\s*!+\\s*|[,;:]? (?:${PLEASE})[\\s.!]*|(?:谢谢|多谢|ありがとうございます|ありがとう|よろしくお願いします|감사합니다)[。.!！\\s]*)$`,
  "u",
);
/** A last line that names a case or an identifier: "[ref k3x9q1]", "Ticket #4821". */
const REFERENCE =
  /\n\s*(?:\[[^\]\n]{1,40}\]|(?:ref|reference|ticket|case|req|request id|trace id|id)\b[ :#.=-]+[\w-]{3,24})[\s.!]*$/u;
const REFERS = /\n\s*\[?(?:ref|reference|ticket|case|req|request|trace|id|msg|order)\b|\d/u;
/** Full stops and exclamation marks end a request without saying more. */
const LAST_STOP = /\s*[.!。！][\s.!。！]*$/u;
const FIRST_WORD = /^([a-z0-9]{5,24})\s+(?=\S)/;
const LAST_WORD = /\s([a-z0-9]{5,24})[\s.!]*$/;
/** What is left must still ask for something: three words, or four characters of a script without spaces. */
const REQUEST = /\S\s+\S+\s+\S|[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7a3]{4}/u;

/** The request itself, from a text in lower case. Greetings and thanks with hardly a word beside them stay. */
export function withoutNoise(lower: string): string {
  let text = lower;
  for (let cuts = 0; cuts < CUTS_MAX; cuts++) {
    const next = cutEnd(cutOpening(text));
    if (next === text) break;
    text = next;
  }
  if (text !== lower && !REQUEST.test(text.slice(0, 4 * END_CHARS))) {
    // A reference is never what is asked.
    text = cutReference(lower);
  }
  return cutStop(text);
}

function cutStop(text: string): string {
  const tail = text.slice(-8);
  const cut = tail.replace(LAST_STOP, "");
  return cut === tail ? text : text.slice(0, text.length - tail.length + cut.length) || text;
}

function cutOpening(text: string): string {
  const head = text.slice(0, END_CHARS);
  const opening = OPENING.exec(head);
  if (opening !== null) return text.slice(opening[0].length);
  const word = FIRST_WORD.exec(head);
  return word !== null && isIdentifier(word[1] as string) ? text.slice(word[0].length) : text;
}

function cutEnd(text: string): string {
  const tail = text.slice(-END_CHARS);
  const last = lastWordOf(tail);
  const closing = LAST_WORDS.has(last) || last.charCodeAt(last.length - 1) > 0x2fff ? CLOSING.exec(tail) : null;
  if (closing !== null) return text.slice(0, text.length - closing[0].length);
  const word = isIdentifier(last) ? LAST_WORD.exec(tail) : null;
  if (word !== null) return text.slice(0, text.length - word[0].length);
  return tail.includes("\n") ? cutReference(text) : text;
}

/** Words that a courtesy may end with: only behind one of them is it looked for. */
const LAST_WORDS = new Set(
  [THANKS, HOW_MUCH, PLEASE]
    .flatMap((phrases) => phrases.split("|"))
    .flatMap((phrase) => {
      const last = phrase.slice(phrase.lastIndexOf(" ") + 1);
      return last === "obrigad[oa]" ? ["obrigado", "obrigada"] : last === "pla[iî]t" ? ["plait", "plaît"] : [last];
    }),
);

function lastWordOf(tail: string): string {
  let end = tail.length;
  while (end > 0 && END_MARKS.includes(tail.charAt(end - 1))) end--;
  let from = end;
  while (from > 0 && !WORD_BREAKS.includes(tail.charAt(from - 1))) from--;
  return tail.slice(from, end);
}

const END_MARKS = " \n\t.!。！";
const WORD_BREAKS = " \n\t,.!?;:";

function cutReference(text: string): string {
  const reference = REFERENCE.exec(text.slice(-END_CHARS));
  if (reference === null || !REFERS.test(reference[0])) return text;
  return text.slice(0, text.length - reference[0].length);
}

const IDENTIFIER = /^[a-z0-9]{5,24}$/;

/** Letters and digits in turns, as in "k3x9q1"; not "sha256" and not "100km". */
function isIdentifier(word: string): boolean {
  return (
    IDENTIFIER.test(word) && /\d/.test(word) && /[a-z]/.test(word) && !/^(?:[a-z]{2,}\d{1,4}|\d+[a-z]{1,4})$/.test(word)
  );
}
