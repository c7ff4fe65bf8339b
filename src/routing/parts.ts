// The parts of a text: the question, which decides, and the material that was pasted with it, which is worth one tier at
// most. Linear in the length of the text.

import type { Cue } from "./classifier/lexicon.ts";
import { readPrompt, type Signals } from "./classifier/signals.ts";

export interface TextParts {
  readonly question: string;
  /** Characters that were pasted with the question; 0 where all of the text asks. */
  readonly contextChars: number;
}

/** Material shorter than this is part of the question. */
const CONTEXT_CHARS_MIN = 400;
/** A paragraph that asks for something is not longer. */
const QUESTION_CHARS_MAX = 400;
/** Material without a name counts as such only if it is long. */
const UNNAMED_CHARS_MIN = 2_000;
/** Blocks that are looked for in one text. */
const BLOCKS_MAX = 40;

/** Finds the question of a text. Returns the whole text where nothing was pasted with it. */
export function partText(text: string): TextParts {
  const whole = { question: text, contextChars: 0 };
  if (text.length < CONTEXT_CHARS_MIN) return whole;
  const { rest, cut } = withoutBlocks(text);
  const { asking, isLabelled } = askingParagraphs(rest);
  if (asking === "") return whole;
  const contextChars = text.length - asking.length;
  if (contextChars < CONTEXT_CHARS_MIN) return whole;
  const isNamed = cut >= CONTEXT_CHARS_MIN || isLabelled || MATERIAL.test(asking);
  return isNamed || contextChars >= UNNAMED_CHARS_MIN ? { question: asking, contextChars } : whole;
}

/** The text without fenced code and tagged documents, and how many characters these have. */
function withoutBlocks(text: string): { readonly rest: string; readonly cut: number } {
  const kept: string[] = [];
  let from = 0;
  BLOCK_START.lastIndex = 0;
  for (let blocks = 0; blocks < BLOCKS_MAX; blocks++) {
    const start = BLOCK_START.exec(text);
    if (start === null) break;
    const closing = start[1] === undefined ? start[0].trim().slice(0, 3) : `</${start[1]}>`;
    const end = text.indexOf(closing, BLOCK_START.lastIndex);
    if (end < 0) continue;
    kept.push(text.slice(from, start.index));
    from = end + closing.length;
    BLOCK_START.lastIndex = from;
  }
  kept.push(text.slice(from));
  const rest = kept.join("\n\n").trim();
  return { rest, cut: text.length - rest.length };
}

/** Fences, quotes of three signs, and tags on a line of their own or before a text. */
const BLOCK_START = /(?:^|\n)[ \t]*(?:```[^\n]{0,40}\n|"""|<([a-z][\w-]{0,30})(?: [^<>\n]{0,200})?>)/gi;

/** The first paragraph and the last ones, where they ask for something and what stands beside them is longer. */
function askingParagraphs(text: string): { readonly asking: string; readonly isLabelled: boolean } {
  if (text.length <= QUESTION_CHARS_MAX) return { asking: text, isLabelled: false };
  const paragraphs = paragraphsOf(text);
  const last = paragraphs.at(-1) as string;
  const labelled = QUESTION_LABEL.exec(last);
  if (labelled !== null && CONTEXT_LABEL.test(text))
    return { asking: last.slice(labelled.index + labelled[0].length).trim(), isLabelled: true };
  const ends = paragraphs.length > 1 ? [paragraphs[0] as string, last] : [last];
  const asking = ends.filter(isAsking);
  // Beside a question, material at the other end may read like a task.
  const questions = asking.filter((paragraph) => QUESTION_MARK.test(paragraph));
  return { asking: (questions.length > 0 ? questions : asking).join("\n"), isLabelled: CONTEXT_LABEL.test(text) };
}

function paragraphsOf(text: string): readonly string[] {
  const apart = text.split(/\n[ \t]*\n\s*/);
  if (apart.length > 1) return apart;
  const lines = text.split("\n");
  return lines.length > 1 ? lines : sentenceApart(text);
}

/** One paragraph alone: a question at its end or its beginning stands apart. */
function sentenceApart(text: string): readonly string[] {
  const tail = text.slice(-QUESTION_CHARS_MAX);
  const end = /[.!。！]\s*(?=[^.!?。！？]{8,}[?？]\s*$)/.exec(tail);
  if (end !== null) {
    const at = text.length - tail.length + end.index + end[0].length;
    return [text.slice(0, at), text.slice(at)];
  }
  const head = /^[^.!?。！？]{8,}[?？:：]\s/.exec(text.slice(0, QUESTION_CHARS_MAX));
  return head === null ? [text] : [head[0], text.slice(head[0].length)];
}

/** Signs of a paragraph that wants something. */
const ASKING: readonly Cue[] = [
  ...(["question", "summary", "translation", "extraction", "writing", "creative", "advice"] as const),
  ...(["code", "math", "reasoning", "proof", "design"] as const),
];

const QUESTION_MARK = /[?？؟]/;

function isAsking(paragraph: string): boolean {
  if (paragraph.length === 0 || paragraph.length > QUESTION_CHARS_MAX) return false;
  const { questions, cues }: Signals = readPrompt(paragraph).signals;
  return questions > 0 || ASKING.some((cue) => cues[cue] > 0);
}

const QUESTION_LABEL =
  /(?:^|\n)[ \t#*]*(?:(?:user )?(?:question|query|task|request|instruction)|q|frage|aufgabe|pregunta|pergunta|domanda|вопрос|问题|質問|질문)[*]*[ \t]*[:：][*]*/iu;
const CONTEXT_LABEL =
  /(?:^|\n)[ \t#*[]*(?:context|documents?|text|passages?|articles?|e-?mails?|transcript|logs?|sources?|excerpts?|content|background|search results|retrieved|knowledge|kontext|dokument|contexte?|documento|contexto|texto|contesto|контекст|текст|资料|上下文|文章|文档|背景)\b[^\n:：]{0,30}[:：\]]/iu;
/** Words of a question for the material beside it, in several languages. */
const MATERIAL =
  /\b(?:contract|document|docs?|text|article|passage|paragraph|handbook|manual|policy|agreement|report|e-?mail|message|letter|transcript|conversation|thread|ticket|logs?|output|file|page|notes|minutes|excerpt|chapter|story|abstract|paper|section|snippet|code|diff|patch|csv|json|yaml|config|readme|reviews?|invoice|resume|cv|following|above|below|context|sources?|attached|pasted)\b|vertrag|dokument|handbuch|richtlinie|bericht|protokoll|artikel|abschnitt|absatz|folgende|obige|contrat|texte|politique|rapport|compte rendu|suivant|ci-dessous|ci-dessus|contrato|documento|artículo|informe|relatório|siguiente|seguinte|abaixo|contratto|seguente|relazione|договор|документ|текст|статья|статье|отчёт|отчет|следующ|ниже|выше|合同|文件|文档|文章|文本|手册|报告|以下|上述|契約|文書|本文|次の|上記|계약|문서|다음/iu;
