// The choice between fast, balanced and best answers, as the playground and the profile editor offer it.

import { Segmented } from "../kit/button.tsx";

/** A quality and what to do when another one is chosen. */
interface QualityProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Three positions, or not set: `value` is the number as text, and empty where nothing is asked for. */
export function Quality({ label, value, onChange }: QualityProps) {
  return (
    <div class="field">
      <span class="label">{label}</span>
      <Segmented
        label={`${label} quality`}
        choices={[
          { value: "", label: "Default" },
          { value: "0", label: "Fast" },
          { value: "1", label: "Balanced" },
          { value: "2", label: "Best" },
        ]}
        value={value}
        onChange={onChange}
      />
    </div>
  );
}
