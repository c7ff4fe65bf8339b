// Requests that are under way, for anyone who has to visit them. Not a Set, which links each table that it has outgrown to
// the next. Once one of those is old, the garbage collector keeps every request that was in any later one.

/** Place of an item, which is kept for the item's removal. */
export interface UnderWayPlace<Item> {
  readonly item: Item;
  /** -1 when it was removed. */
  index: number;
}

export class UnderWay<Item> {
  readonly #places: UnderWayPlace<Item>[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(item: Item): UnderWayPlace<Item> {
    const place = { item, index: this.#places.length };
    this.#places.push(place);
    return place;
  }

  /** A second time it does nothing. */
  remove(place: UnderWayPlace<Item>): void {
    if (place.index < 0) return;
    const last = this.#places.pop() as UnderWayPlace<Item>;
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
