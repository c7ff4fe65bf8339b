// Cuts the text of a price list into its entries while it arrives, so that no list is in memory as a whole. Pure.

/** An entry of a list. The name is null for one of an array. */
export interface ListEntry {
  readonly name: string | null;
  /** Says that the entry is one of the array under `data`. */
  readonly isInner: boolean;
  /** The JSON of the entry's value. */
  readonly text: string;
}

export interface EntryCutter {
  /** Returns the entries that this part of the text completes. Throws NotJson. */
  push(text: string): readonly ListEntry[];
  /** Throws NotJson where the text is not complete. */
  end(): void;
}

/** A text that is no complete JSON. */
export class NotJson extends Error {}

const STRUCTURE = /["\\{}[\],]/g;
const CLOSES: Readonly<Record<string, string>> = { "{": "}", "[": "]" };
/** A member whose array is the list. */
const INNER_LIST = /^\s*"data"\s*:\s*$/;

/** The entries are those of the array or object that the text is, or of an array under `data`. */
export function createEntryCutter(): EntryCutter {
  return new Cutter();
}

class Cutter implements EntryCutter {
  /** Text that is not cut yet, from the start of an entry on. */
  #text = "";
  #at = 0;
  #start = 0;
  #isInString = false;
  #depth = 0;
  /** The openers of the containers around the entries: the root, and the array under `data`. */
  readonly #lists: string[] = [];
  /** The mark before the entry. */
  #before: "opening" | "comma" | "closing" = "opening";
  #isOver = false;
  #entries: ListEntry[] = [];

  push(text: string): readonly ListEntry[] {
    this.#text += text;
    this.#scan();
    this.#text = this.#text.slice(this.#start);
    this.#at -= this.#start;
    this.#start = 0;
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  end(): void {
    if (!this.#isOver || this.#text.trim() !== "") throw new NotJson();
  }

  #scan(): void {
    for (;;) {
      STRUCTURE.lastIndex = this.#at;
      const found = STRUCTURE.exec(this.#text);
      if (found === null) {
        this.#at = Math.max(this.#at, this.#text.length);
        return;
      }
      this.#at = found.index + 1;
      this.#step(found[0], found.index);
    }
  }

  #step(mark: string, index: number): void {
    if (this.#isInString) {
      if (mark === "\\") this.#at = index + 2;
      else if (mark === '"') this.#isInString = false;
    } else if (mark === '"') this.#isInString = true;
    else if (mark === "{" || mark === "[") this.#open(mark, index);
    else if (mark === ",") this.#comma(index);
    else if (mark !== "\\") this.#close(mark, index);
  }

  #open(mark: string, index: number): void {
    const before = this.#text.slice(this.#start, index);
    const isRoot = this.#depth === 0;
    if (isRoot && (this.#isOver || before.trim() !== "")) throw new NotJson();
    const isInner = this.#depth === 1 && this.#lists[0] === "{" && mark === "[" && INNER_LIST.test(before);
    this.#depth += 1;
    if (!isRoot && !isInner) return;
    this.#lists.push(mark);
    this.#start = index + 1;
    this.#before = "opening";
  }

  #comma(index: number): void {
    if (this.#depth > this.#lists.length) return;
    if (this.#depth === 0) throw new NotJson();
    this.#cut(index, "comma");
  }

  #close(mark: string, index: number): void {
    this.#depth -= 1;
    if (this.#depth >= this.#lists.length) return;
    if (CLOSES[this.#lists.at(-1) ?? ""] !== mark) throw new NotJson();
    this.#cut(index, "closing");
    this.#lists.pop();
    this.#isOver = this.#depth === 0;
  }

  /** Nothing between two commas is no JSON, except where the list is empty or was the entry itself. */
  #cut(index: number, end: "comma" | "closing"): void {
    const text = this.#text.slice(this.#start, index).trim();
    const isAfterList = this.#before === "closing";
    const isEmptyList = this.#before === "opening" && end === "closing";
    if (text === "" ? !isAfterList && !isEmptyList : isAfterList) throw new NotJson();
    this.#start = index + 1;
    this.#before = end;
    if (text !== "")
      this.#entries.push({
        ...(this.#lists.at(-1) === "[" ? { name: null, text } : memberOf(text)),
        isInner: this.#lists.length > 1,
      });
  }
}

function memberOf(text: string): Pick<ListEntry, "name" | "text"> {
  const [key = "", name = ""] = /^("[^"\\]*(?:\\.[^"\\]*)*")\s*:/.exec(text) ?? [];
  if (key === "") throw new NotJson();
  return { name: JSON.parse(name) as string, text: text.slice(key.length) };
}
