// Requests that are under way, for anyone who has to visit them. Not a Set, which links each table that it has outgrown to
// the next. Once one of those is old, the garbage collector keeps every request that was in any later one.

/** Where an item is; to be kept for its removal. */
export interface Place<Item> {
  readonly item: Item;
  /** -1 when it was removed. */
  index: number;
}

export class UnderWay<Item> {
  readonly #places: Place<Item>[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(item: Item): Place<Item> {
    const place = { item, index: this.#places.length };
    this.#places.push(place);
    return place;
  }

  /** A second time it does nothing. */
  remove(place: Place<Item>): void {
    if (place.index < 0) return;
    const last = this.#places.pop() as Place<Item>;
    if (last !== place) {
      this.#places[place.index] = last;
      last.index = place.index;
    }
    place.index = -1;
  }

  /** A copy, in any order. */
  items(): readonly Item[] {
    return this.#places.map(({ item }) => item);
  }
}
