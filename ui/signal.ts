// Signals: values outside of components that components follow. A component that reads one while it is drawn is drawn
// again when the value changes.

import { type Component, options, type VNode } from "preact";
import { useState } from "preact/hooks";

/** Setting the same value again changes nothing. */
export interface Signal<T> {
  value: T;
}

/**
 * The functions that Preact calls around each drawing. `__r` and `__c` are the names in its build, which the version pins.
 * `@preact/signals` 2.11.4 hooks the same names; with it the scripts are 2.7 KB larger (gzip), over their budget of 75 KB
 * in `test/browser/pages.test.ts`.
 */
interface Drawing {
  __r?: (vnode: VNode & { readonly __c: Component }) => void;
  diffed?: (vnode: VNode) => void;
}

// Module state: Preact draws one component at a time.
let drawn: Component | null = null;
const drawing = options as Drawing;
const { __r: before, diffed: after } = drawing;
drawing.__r = (vnode) => {
  before?.(vnode);
  drawn = vnode.__c;
};
drawing.diffed = (vnode) => {
  drawn = null;
  after?.(vnode);
};

export function signal<T>(initial: T): Signal<T> {
  let current = initial;
  const readers = new Set<Component>();
  return {
    get value(): T {
      if (drawn !== null) readers.add(drawn);
      return current;
    },
    set value(next: T) {
      if (next === current) return;
      current = next;
      // Each reader reads the signal again when drawn. A reader that is gone is not drawn, and so forgotten.
      const told = [...readers];
      readers.clear();
      for (const component of told) component.forceUpdate();
    },
  };
}

/** A signal of one component, for what quick events must each see. */
export function useSignal<T>(initial: T): Signal<T> {
  return useState(() => signal(initial))[0];
}
