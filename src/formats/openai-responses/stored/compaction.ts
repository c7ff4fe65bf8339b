// Compaction of a conversation: what the model is asked for, and what takes the place of the history afterwards. The
// history goes to the model as plain text, so that any vendor's model can read tool calls it has no tools for.

import type { JsonItem } from "../../../core/responses/stored.ts";
import { type JsonObject, objectsIn, toText } from "../../json/fields.ts";

/** Begins what we seal: other vendors' compactions are theirs to read. */
const OURS = "switchyard.";

/** The sealed summary in a compaction item; null for every other item. */
export function sealedSummary({ type, encrypted_content: content }: JsonItem): string | null {
  const isOurs = type === "compaction" && typeof content === "string" && content.startsWith(OURS);
  return isOurs ? content.slice(OURS.length) : null;
}

export function compactionItem(id: string, sealed: string): JsonItem {
  return { type: "compaction", id, encrypted_content: `${OURS}${sealed}` };
}

/** The message that the model sees in place of the compaction item. */
export function summaryMessage(summary: string): JsonItem {
  const text = `Summary of the conversation so far:\n\n${summary}`;
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

const ASK = [
  "You summarize a conversation between a user and an assistant so that the assistant can continue it from your summary alone.",
  "Keep the user's goals and constraints, decisions and their reasons, facts, names, numbers, file paths, the results of tool calls that still matter, and what is left to do.",
  "Write in the language of the conversation. Write the summary only.",
].join(" ");

/** Tells whether texts, together, are few enough for the model. */
type Fits = (texts: readonly string[]) => boolean;

/** The request for the summary. Routing controls and the model are those of the client's request. */
export function summaryRequest(body: JsonObject, history: readonly JsonItem[], fits: Fits): JsonObject {
  const controls = Object.entries(body).filter(([name]) => name === "model" || name.startsWith("service_"));
  const instructions =
    typeof body.instructions === "string" ? `\n\nThe assistant's instructions: ${body.instructions}` : "";
  return {
    ...Object.fromEntries(controls),
    instructions: ASK,
    input: `Summarize this conversation.${instructions}\n\n<conversation>\n${transcript(history, fits)}\n</conversation>`,
    store: false,
  };
}

/** The newest messages of the user, which a compaction keeps as they are, up to so many bytes. */
export function userMessages(items: readonly JsonItem[], maxBytes: number): readonly JsonItem[] {
  const messages = items.filter(({ type, role }) => role === "user" && (type ?? "message") === "message");
  let bytes = 0;
  const firstKept = messages.findLastIndex((message) => {
    bytes += Buffer.byteLength(JSON.stringify(message));
    return bytes > maxBytes;
  });
  return messages.slice(firstKept + 1);
}

/** In a conversation that no model can read whole, an entry is cut to this length. */
const CUT_CHARS = 20_000;

/** Everything that was said. Where it does not fit, long entries lose their middle, and then the oldest are left out. */
function transcript(items: readonly JsonItem[], fits: Fits): string {
  const lines = items.map(lineOf).filter((line) => line !== "");
  if (fits(lines)) return lines.join("\n\n");
  const cut = lines.map(withoutMiddle);
  let low = 0;
  for (let high = cut.length; low < high; ) {
    const middle = Math.floor((low + high) / 2);
    if (fits(cut.slice(middle))) high = middle;
    else low = middle + 1;
  }
  const note = low === 0 ? [] : [`[${low} earlier entries are left out]`];
  return [...note, ...cut.slice(low)].join("\n\n");
}

function withoutMiddle(line: string): string {
  if (line.length <= CUT_CHARS) return line;
  const left = line.length - CUT_CHARS;
  return `${line.slice(0, CUT_CHARS / 2)}\n[${left} characters are left out]\n${line.slice(-CUT_CHARS / 2)}`;
}

function lineOf(item: JsonItem): string {
  const { type = "message", role, name } = item;
  if (type === "message") return `${toText(role)}: ${contentText(item.content)}`;
  if (type === "reasoning") return "";
  if (type === "function_call") return `assistant calls ${toText(name)}: ${toText(item.arguments)}`;
  if (type === "custom_tool_call") return `assistant calls ${toText(name)}: ${toText(item.input)}`;
  if (type === "function_call_output" || type === "custom_tool_call_output")
    return `result: ${contentText(item.output)}`;
  return `${toText(type)}: ${JSON.stringify(item)}`;
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = objectsIn(content);
  return parts.map(({ type, text }) => (typeof text === "string" ? text : `[${toText(type)}]`)).join("\n");
}
