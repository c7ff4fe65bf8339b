// Tool calls of a stream whose arguments never come. Hosts leave them empty for tools without parameters, and clients
// that parse them throw. The finishing chunk brings the empty object.

import { isObject, type JsonObject, objectsIn } from "../json/fields.ts";
import { NO_ARGUMENTS } from "../tools/calls.ts";

/** Finish reasons of an answer that was cut, in which arguments may be missing for that reason. */
const CUT: ReadonlySet<unknown> = new Set(["length", "content_filter"]);

export class BareCalls {
  /** Calls without arguments so far, by choice and then by index. */
  readonly #bare = new Map<unknown, Set<unknown>>();

  /** Tells whether calls are without arguments, so that every chunk has to be seen. */
  get isWaiting(): boolean {
    return this.#bare.size > 0;
  }

  see({ choices }: JsonObject): void {
    for (const { index: choice, delta } of objectsIn(choices)) {
      if (!isObject(delta)) continue;
      for (const call of objectsIn(delta.tool_calls)) this.#seeCall(choice, call);
    }
  }

  /** The chunk with arguments for the calls that it ends. */
  fill(json: JsonObject): JsonObject {
    if (!this.isWaiting) return json;
    return { ...json, choices: objectsIn(json.choices).map((choice) => this.#fillChoice(choice)) };
  }

  #seeCall(choice: unknown, { index, id, function: called }: JsonObject): void {
    const text = isObject(called) ? called.arguments : null;
    const calls = this.#bare.get(choice);
    if (typeof text === "string" && text !== "") {
      calls?.delete(index);
      if (calls?.size === 0) this.#bare.delete(choice);
    } else if (isObject(called) && typeof id === "string" && id !== "") {
      this.#bare.set(choice, (calls ?? new Set()).add(index));
    }
  }

  #fillChoice(choice: JsonObject): JsonObject {
    const { index, finish_reason: finish, delta } = choice;
    const calls = this.#bare.get(index);
    if (calls === undefined || (finish ?? null) === null || CUT.has(finish)) return choice;
    this.#bare.delete(index);
    const said = isObject(delta) ? delta : {};
    const added = [...calls].map((call) => ({ index: call, function: { arguments: NO_ARGUMENTS } }));
    return { ...choice, delta: { ...said, tool_calls: [...objectsIn(said.tool_calls), ...added] } };
  }
}
