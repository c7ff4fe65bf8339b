// Tabs as the ARIA practices want them: arrow keys move, and one tab is in the tab order.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A tab draws its panel only while chosen. */
interface Tab {
  readonly id: string;
  readonly label: string;
  readonly show: () => ComponentChildren;
}

/** The caller keeps which tab is chosen, often in the address. */
interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

/** An unknown choice shows the first tab, since it may come from an old address. */
export function Tabs({ label, tabs, chosen, onChoose }: TabsProps) {
  const base = useId();
  const current = tabs.find(({ id }) => id === chosen) ?? tabs[0];
  const move = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0 || current === undefined) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(current) + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChoose(next.id);
    // The focus moves with the choice, as arrow keys do in a list of tabs.
    document.getElementById(`${base}-${next.id}`)?.focus();
  };
  if (current === undefined) return null;
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} onKeyDown={move} tabIndex={-1}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${base}-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab === current}
            aria-controls={`${base}-panel`}
            tabIndex={tab === current ? 0 : -1}
            onClick={() => onChoose(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div id={`${base}-panel`} role="tabpanel" aria-labelledby={`${base}-${current.id}`}>
        {current.show()}
      </div>
    </div>
  );
}
