// Tabs as the ARIA practices want them: arrow keys move, one tab is in the tab order.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly show: () => ComponentChildren;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

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
