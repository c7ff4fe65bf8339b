// The history floor: a short follow-up ("yes, do it", "now in Rust") is as hard as the request it continues.
// A new, self-contained question inherits nothing, and neither does a mere reaction ("oh no", "thanks!").

import type { Weights } from "../catalog/weights.ts";
import { type ChatMessage, messageText } from "../core/chat.ts";
import type { Tier } from "../core/tiers.ts";
import { askBefore } from "./ask.ts";
import { HISTORY, REACTION } from "./classifier/constants.ts";
import type { Classification } from "./classifier/rules.ts";
import { type PromptText, readPrompt, type Signals } from "./classifier/signals.ts";
import { judgeText } from "./judge.ts";

export interface HistoryInput {
  readonly messages: readonly ChatMessage[];
  /** The newest human request and its place among the messages. */
  readonly prompt: PromptText;
  readonly askIndex: number;
  readonly weights: Weights | null;
}

/** The tier of the earlier request that the newest one continues; null where it stands on its own. */
export function findHistoryFloor({ messages, prompt, askIndex, weights }: HistoryInput): Tier | null {
  if (askIndex <= 0 || !isFollowUp(withoutEmptyPointers(prompt))) return null;
  if (isReaction(prompt, messages.slice(0, askIndex))) return null;
  let earlier = askBefore(messages, askIndex);
  for (let looked = 0; earlier !== null && looked < HISTORY.lookBackMax; looked++) {
    const earlierPrompt = readPrompt(earlier.text);
    const classification = judgeText(earlierPrompt, weights);
    if (isSubstantial(earlierPrompt.signals, classification)) return classification.tier;
    earlier = askBefore(messages, earlier.index);
  }
  return null;
}

/** Words that look back but mean the hour, the weather or the calendar: "what time is it", "is it raining", "this week". */
const EMPTY_POINTERS = new RegExp(
  [
    "\\b(?:what|which) (?:time|day|date|month|year|season)(?: of the (?:week|month|year))? is it\\b",
    "\\b(?:is|will|does) it (?:be |get |going to )?(?:rain|snow|raining|snowing|sunny|cold|hot|warm|dark|windy|humid)\\b",
    "\\b(?:this|these) (?:week|weekend|month|year|morning|afternoon|evening|spring|summer|autumn|fall|winter|days)\\b",
    "\\bright now\\b",
    "(?:qué hora es|wie spät ist es|quelle heure est-il|che ore sono|que horas são) (?:ahora|jetzt|maintenant|adesso|agora)",
    "现在几点|现在的天气|今何時",
  ].join("|"),
  "g",
);

/** The signals of a text as if those words were not in it. */
function withoutEmptyPointers({ lower, signals }: PromptText): Signals {
  if (signals.cues.backward === 0 || signals.words > HISTORY.followUpWordsMax) return signals;
  const rest = lower.replace(EMPTY_POINTERS, "what");
  return rest === lower ? signals : readPrompt(rest).signals;
}

function isFollowUp({ words, cues, questions }: Signals): boolean {
  if (words === 0 || words > HISTORY.followUpWordsMax) return false;
  const isFarewell = cues.thanks + cues.greeting > 0 && cues.backward === 0;
  if (isFarewell) return cues.proceed > 0;
  if (cues.proceed > 0 || cues.backward > 0) return true;
  const isQuestion = questions > 0 || cues.question > 0;
  return words <= HISTORY.fragmentWordsMax && !isQuestion && cues.smalltalk === 0;
}

// A text that reads like a follow-up may still carry a task of its own: "write a parser and test it".
function isSubstantial(signals: Signals, { category }: Classification): boolean {
  if (category === "chitchat") return false;
  const isTask = category !== "general" && category !== "simple_qa";
  return !isFollowUp(signals) || (isTask && signals.words > HISTORY.fragmentWordsMax);
}

/**
 * Tells whether a message only reacts to what was said ("oh no", "lol", "なるほど") and asks for nothing: it continues no
 * work. Praise is a yes where it answers a question, so `messages`, those before it, are searched for one.
 */
function isReaction({ text, lower }: PromptText, messages: readonly ChatMessage[]): boolean {
  if (text.length > REACTION.charsMax || /[?？؟]/.test(text)) return false;
  const clauses = lower
    .replaceAll("’", "'")
    // Drawn out letters: "nooo", "thaaanks", "ㅋㅋㅋ".
    .replace(/(.)\1{2,}/gu, "$1")
    .split(/[^\p{L}\p{M}\p{N}' ]+/u)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== "");
  if (clauses.length === 0) return false;
  const isAnswer = wasAsked(messages);
  const known = isAnswer ? REACTIONS : REACTIONS_AND_PRAISE;
  const isSaid = (clause: string) => isMadeOf(known, clause);
  if (isAnswer) return clauses.every(isSaid);
  // "Ok" alone may ask to go on; "ok, thanks" does not.
  const others = clauses.map((clause) => clause.replace(NOD, "")).filter((clause) => clause !== "");
  return others.length > 0 && others.every(isSaid);
}

/** Words that agree and may ask to go on: what follows them decides. */
const NOD =
  /^(?:(?:ok|okay|okey|k|yes|yeah|alright|sure|ja|alles klar|gut|oui|d'accord|sí|vale|sim|tá|sì|va bene|да|ладно|хорошо|好|好的|嗯|はい|うん|네|응|نعم|حسنا|हाँ|ठीक है|tamam|evet|tak|dobrze)(?: |$))+/u;

/** Tells whether the reply before ends with a question, to which any praise is a yes. */
function wasAsked(messages: readonly ChatMessage[]): boolean {
  const reply = messages.findLast(({ role }) => role === "assistant");
  return reply !== undefined && /[?？؟]\P{L}*$/u.test(messageText(reply).slice(-REACTION.questionChars));
}

const LAUGHTER = /^(?:a?(?:ha|he|hi|ho|ja|je|kk|rs|xd)+h?|mdr|[哈呵嘿嘻ㅋㅎ笑草w]+|[хаеи]*х[хаеи]+|ه+)$/u;
/** "Thanks for the help", but not "thanks for that and now do the rest". */
const THANKS_FOR =
  /^(?:thanks|thank you|thx|danke|vielen dank|merci|gracias|obrigad[oa]|grazie|спасибо|dziękuję|dank je|bedankt)(?: \S+){0,3} (?:for|für|pour|por|pela|pelo|per|за|za|voor)(?: \S+){1,5}$/;
const GOES_ON =
  / (?:and|but|now|then|please|can|could|und|aber|jetzt|bitte|et|mais|maintenant|y|pero|ahora|e|ma|ora|mas|agora|и|но|теперь|i|ale|teraz|en|maar|nu) /;

/** Tells whether the clause consists of reactions alone. */
function isMadeOf(known: ReadonlySet<string>, clause: string): boolean {
  if (THANKS_FOR.test(clause) && !GOES_ON.test(clause)) return true;
  const words = clause.split(/ +/);
  let at = 0;
  while (at < words.length) {
    const length = reactionLength(known, words, at);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

function reactionLength(known: ReadonlySet<string>, words: readonly string[], at: number): number {
  for (let length = Math.min(REACTION.phraseWordsMax, words.length - at); length > 0; length--) {
    if (known.has(words.slice(at, at + length).join(" "))) return length;
  }
  return LAUGHTER.test(words[at] as string) ? 1 : 0;
}

const REACTIONS = phrases(
  "oh no|no way|oh|ah|aw|aww|hm|hmm|mhm|oops|whoops|ouch|ugh|wow|whoa|omg|oh my god|oh my|my god|damn|dang|yikes|phew|yay|lol|lmao|rofl|haha",
  "thanks|thank you|many thanks|thanks a lot|thanks so much|thank you so much|thank you very much|thx|ty|tysm|cheers|much appreciated|appreciate it|i appreciate it",
  "sorry|my bad|no worries|no problem|never mind|nevermind|too bad|so sad|that's sad|bummer|that's a pity|what a pity|i see|got it|makes sense|that makes sense|good to know|interesting|how interesting|fair enough|you're the best|you're welcome",
  "bye|goodbye|good night|see you|see you later|have a nice day|hi|hello|hey|good morning|it works|it worked|that works|that worked|works now|it works now",
  "danke|danke schön|danke dir|vielen dank|tausend dank|oh nein|ach so|achso|ach|aha|schade|krass|verstehe|verstanden|tut mir leid|kein problem|macht nichts|tschüss|gute nacht|alles klar danke|es klappt",
  "merci|merci beaucoup|merci bien|oh non|ah bon|oh là là|zut|mince|dommage|je vois|compris|désolé|désolée|pas de souci|bonne nuit|au revoir|ptdr",
  "gracias|muchas gracias|mil gracias|oh no|ay no|vaya|qué pena|qué lástima|ya veo|entiendo|entendido|lo siento|no pasa nada|adiós|buenas noches|jaja|jajaja",
  "obrigado|obrigada|muito obrigado|muito obrigada|valeu|ah não|oh não|nossa|puxa|que pena|entendi|desculpa|desculpe|tchau|boa noite|kkk",
  "grazie|grazie mille|molte grazie|oh no|accidenti|peccato|che peccato|capisco|capito|ho capito|scusa|mi dispiace|ciao|buona notte",
  "спасибо|спасибо большое|большое спасибо|благодарю|о нет|ой|ого|ничего себе|жаль|как жаль|понятно|ясно|понял|поняла|извини|прости|пока|спокойной ночи|лол",
  "谢谢|谢谢你|谢谢您|多谢|感谢|非常感谢|不客气|明白|明白了|知道了|懂了|收到|原来如此|天哪|天啊|哎呀|糟糕|不会吧|可惜|太可惜了|对不起|没关系|再见|晚安",
  "ありがとう|ありがとうございます|ありがとうございました|どうも|助かりました|助かります|なるほど|わかりました|分かりました|了解|了解です|えー|うわー|やばい|残念|残念です|すみません|ごめん|おやすみ|さようなら",
  "고마워|고마워요|고맙습니다|감사합니다|감사해요|정말 감사합니다|그렇군요|그렇구나|알겠어요|알겠습니다|이런|저런|아이고|헐|아 그렇구나|미안|미안해요|안녕|잘 자",
  "شكرا|شكرا لك|شكرا جزيلا|يا إلهي|للأسف|فهمت|آسف|مع السلامة|धन्यवाद|शुक्रिया|बहुत धन्यवाद|अरे नहीं|अच्छा|समझ गया|समझ गई|माफ़ करना|अलविदा",
  "teşekkürler|teşekkür ederim|çok teşekkürler|sağ ol|sağol|eyvah|olamaz|yok artık|anladım|üzgünüm|hoşça kal|iyi geceler|dziękuję|dzięki|wielkie dzięki|o nie|ojej|szkoda|rozumiem|przepraszam|do widzenia",
  "dank je|dank je wel|dankjewel|bedankt|hartelijk dank|o nee|jammer|ik snap het|begrepen|sorry|doei|welterusten|cảm ơn|cảm ơn bạn|ôi không|hiểu rồi|terima kasih|makasih|aduh|sayang sekali|saya mengerti",
);

const REACTIONS_AND_PRAISE = new Set([
  ...REACTIONS,
  ...phrases(
    "cool|so cool|nice|very nice|nice one|great|that's great|that is great|awesome|that's awesome|perfect|amazing|that's amazing|wonderful|excellent|brilliant|fantastic|sweet|good job|great job|well done|love it|i love it|i love this|very good|good|so good|beautiful|impressive",
    "super|toll|prima|klasse|wunderbar|perfekt|sehr gut|gut gemacht|genial|spitze|parfait|génial|magnifique|très bien|bravo|excelente|perfecto|genial|estupendo|muy bien|qué bien|perfeito|ótimo|legal|muito bom|perfetto|ottimo|fantastico|molto bene",
    "отлично|супер|круто|здорово|прекрасно|молодец|класс|太好了|太棒了|真棒|不错|厉害|好厉害|很好|すごい|すごいですね|いいね|いいですね|素晴らしい|よかった|最高|さすが|대박|와|우와|좋네요|좋아요|멋져요|최고|훌륭해요",
    "رائع|ممتاز|جميل|बहुत अच्छा|बढ़िया|शानदार|harika|süper|mükemmel|çok iyi|świetnie|super|doskonale|geweldig|mooi|goed zo|tuyệt vời|hay quá|keren|bagus|mantap",
  ),
]);

function phrases(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split("|")));
}
