// The choice between fast, balanced and best answers, as the playground and the profile editor offer it.

import { Segmented } from "../kit/button.tsx";
import * as TEXT from "./text.ts";

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
        label={TEXT.qualityOf(label)}
        choices={[
          { value: "", label: TEXT.byDefault },
          { value: "0", label: TEXT.fast },
          { value: "1", label: TEXT.balanced },
          { value: "2", label: TEXT.best },
        ]}
        value={value}
        onChange={onChange}
      />
    </div>
  );
}
