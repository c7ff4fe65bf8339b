// Buttons, links that look like buttons, and a group of buttons of which one is pressed.

import type { ComponentChildren } from "preact";

/** A busy button is disabled, so that a slow response is not asked for twice. */
interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: "primary" | "plain" | "quiet" | "danger";
  readonly type?: "button" | "submit";
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  /** The accessible name, where the text alone does not say what it is about. */
  readonly label?: string;
  readonly title?: string;
  readonly isPressed?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
}

/** Has the type `button` unless told otherwise: a forgotten type would submit the form around the button. */
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

/** A link that looks like a button: it goes to an address and can be opened in a new tab. */
export function ButtonLink({ href, children, kind = "plain", download }: ButtonLinkProps) {
  return (
    <a class={`button ${kind}`} href={href} download={download}>
      {children}
    </a>
  );
}

/** One choice of a segmented control. */
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

/** A few choices of which one holds, all in sight. The legend is for screen readers. */
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
