// Asks: the sentences of a request that ask for something, apart from the story around them.

const SENTENCE_END = /(?<=[.?!。？！])\s+|[。？！\n]/;
const SENTENCES_MAX = 24;
const ASKS =
  /\?\s*$|\b(?:can|could|would|will) you\b|\bplease\b|\bi(?:'d| would)? (?:need|want|like|wish)\b|\bi(?:'m| am) (?:looking|trying|interested)\b|\bhelp me\b|\blet me know\b|\btell me\b|\bhow do i\b|\bwhat|\bhow (?:many|much)\b/i;

/** The sentences that ask; all of them where none does in so many words. */
export function asksOf(text: string, opensWithVerb: (sentence: string) => boolean): readonly string[] {
  const sentences = text.split(SENTENCE_END, SENTENCES_MAX).filter((sentence) => sentence.trim() !== "");
  const asks = sentences.filter((sentence) => ASKS.test(sentence) || opensWithVerb(sentence));
  return asks.length === 0 ? sentences : asks;
}
