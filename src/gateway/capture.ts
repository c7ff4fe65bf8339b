// What is heard of an answer on its way to the client, for the record of the request: its tool calls, to be checked when
// it is over, and its text where content is kept. Bounded; with neither tools nor kept content nothing is heard at all.

import type { ChatChunk, StreamWriter, WholeAnswer } from "../formats/format.ts";

/** Characters of text, and of arguments per answer. */
export const TEXT_MAX = 256 * 1024;
const ARGUMENTS_MAX = 64 * 1024;
const CALLS_MAX = 32;

export interface HeardCall {
  readonly name: string;
  readonly arguments: string;
}

export interface Heard {
  whole(answer: WholeAnswer): void;
  /** The same writer, overheard. */
  listening(writer: StreamWriter): StreamWriter;
  /** The tool calls that were heard to their end. */
  toolCalls(): readonly HeardCall[];
  readonly text: string;
  readonly isCut: boolean;
}

export function listenFor(wanted: { readonly toolCalls: boolean; readonly text: boolean }): Heard | null {
  return wanted.toolCalls || wanted.text ? new Listener(wanted.text) : null;
}

interface Said {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly tool_calls?: unknown;
  readonly function_call?: unknown;
}

interface Gathered {
  readonly choice: unknown;
  name: string;
  arguments: string;
}

/** The output cap or a filter ended the answer: what is missing then is not the model's fault. */
const CUT_FINISHES: ReadonlySet<unknown> = new Set(["length", "content_filter"]);

class Listener implements Heard {
  text = "";
  isCut = false;
  readonly #keepsText: boolean;
  readonly #calls = new Map<string, Gathered>();
  readonly #cutChoices = new Set<unknown>();
  #argumentsLength = 0;

  constructor(keepsText: boolean) {
    this.#keepsText = keepsText;
  }

  whole({ completion }: WholeAnswer): void {
    for (const [index, choice] of listOf(completion.choices).entries()) {
      const message = objectOf(choice.message);
      if (index > 0) this.#say("\n\n");
      if (message !== null) this.#hear(message, index);
      if (CUT_FINISHES.has(choice.finish_reason)) this.#cutChoices.add(index);
    }
  }

  listening(writer: StreamWriter): StreamWriter {
    return {
      ping: writer.ping,
      write: (chunks) => {
        for (const chunk of chunks) this.#hearChunk(chunk);
        return writer.write(chunks);
      },
      end: (service, usage) => writer.end(service, usage),
      fail: (error) => writer.fail(error),
    };
  }

  toolCalls(): readonly HeardCall[] {
    // Beyond the bound the arguments are incomplete, which is not the model's fault either.
    if (this.#argumentsLength > ARGUMENTS_MAX) return [];
    const whole = [...this.#calls.values()].filter(({ choice }) => !this.#cutChoices.has(choice));
    return whole.map(({ name, arguments: given }) => ({ name, arguments: given }));
  }

  #hearChunk({ json }: ChatChunk): void {
    for (const choice of listOf(json.choices)) {
      const delta = objectOf(choice.delta);
      if (delta !== null) this.#hear(delta, choice.index);
      if (CUT_FINISHES.has(choice.finish_reason)) this.#cutChoices.add(choice.index);
    }
  }

  #hear(said: Said, choice: unknown): void {
    for (const text of [said.content, said.refusal]) if (typeof text === "string") this.#say(text);
    for (const [position, call] of listOf(said.tool_calls).entries()) {
      const isNumbered = Number.isInteger(call.index);
      this.#hearCall(objectOf(call.function), choice, isNumbered ? call.index : position);
    }
    this.#hearCall(objectOf(said.function_call), choice, "function");
  }

  #hearCall(call: Fields | null, choice: unknown, position: unknown): void {
    if (call === null) return;
    const place = `${choice} ${position}`;
    const known = this.#calls.get(place);
    if (known === undefined && this.#calls.size >= CALLS_MAX) return;
    const gathered = known ?? { choice, name: "", arguments: "" };
    if (known === undefined) this.#calls.set(place, gathered);
    const { name, arguments: piece } = call;
    if (typeof name === "string" && gathered.name === "") gathered.name = name;
    if (typeof piece !== "string") return;
    this.#argumentsLength += piece.length;
    if (this.#argumentsLength <= ARGUMENTS_MAX) gathered.arguments += piece;
  }

  #say(text: string): void {
    if (!this.#keepsText || text === "") return;
    const room = TEXT_MAX - this.text.length;
    if (text.length > room) this.isCut = true;
    this.text += text.length > room ? text.slice(0, room) : text;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter((each) => objectOf(each) !== null) : [];
}

function objectOf(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}
