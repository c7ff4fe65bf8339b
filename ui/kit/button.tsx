// Buttons, and links that look like them.

import type { ComponentChildren } from "preact";

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: "primary" | "plain" | "quiet" | "danger";
  readonly type?: "button" | "submit";
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  readonly label?: string;
  readonly title?: string;
  readonly isPressed?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
}

export function Button({ children, kind = "plain", type = "button", isBusy = false, ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={rest.isDisabled === true || isBusy}
      aria-busy={isBusy}
      aria-label={rest.label}
      aria-pressed={rest.isPressed}
      title={rest.title}
      onClick={rest.onClick}
    >
      {children}
    </button>
  );
}

interface ButtonLinkProps {
  readonly href: string;
  readonly children: ComponentChildren;
  readonly kind?: "primary" | "plain" | "quiet";
  readonly download?: string;
}

export function ButtonLink({ href, children, kind = "plain", download }: ButtonLinkProps) {
  return (
    <a class={`button ${kind}`} href={href} download={download}>
      {children}
    </a>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface SegmentedProps {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A few choices of which one holds, all in sight. */
export function Segmented({ label, choices, value, onChange }: SegmentedProps) {
  return (
    <fieldset class="segmented">
      <legend class="hidden">{label}</legend>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </fieldset>
  );
}
