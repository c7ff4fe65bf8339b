// Bounded maps of what a process remembers.

/** A map that lets go of what was not set for long: the older generation goes when the newer is full. */
export class Generations<Key, Value> {
  readonly #max: number;
  #recent = new Map<Key, Value>();
  #older = new Map<Key, Value>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: Key): Value | undefined {
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  set(key: Key, value: Value): void {
    this.#recent.set(key, value);
    if (this.#recent.size < this.#max) return;
    this.#older = this.#recent;
    this.#recent = new Map();
  }
}
