// What is under way: the same items as in a Set, without the memory that a Set leaves behind.

import { expect, test } from "vitest";
import { UnderWay, type UnderWayPlace } from "../../../../src/core/requests/under-way.ts";
import { fc } from "../../../support/property.ts";

test("holds what was added and not removed, whatever the order", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9), { maxLength: 60 }), (steps) => {
      const underWay = new UnderWay<number>();
      const model = new Set<number>();
      const places: UnderWayPlace<number>[] = [];
      for (const [item, step] of steps.entries()) {
        const place = places[step];
        if (place === undefined || step > 6) {
          places.push(underWay.add(item));
          model.add(item);
        } else {
          // Also one that was removed before.
          underWay.remove(place);
          model.delete(place.item);
        }
      }
      expect([...underWay.items()].sort()).toEqual([...model].sort());
      expect(underWay.size).toBe(model.size);
    }),
  );
});

test("items may be removed while they are visited", () => {
  const underWay = new UnderWay<number>();
  const places = [1, 2, 3].map((item) => underWay.add(item));
  const visited = underWay.items().map((item) => {
    underWay.remove(places[item - 1] as UnderWayPlace<number>);
    return item;
  });
  expect(visited).toEqual([1, 2, 3]);
  expect(underWay.size).toBe(0);
});
