// Checkboxes for the capabilities of models.

import { CAPABILITIES, type Capability } from "../../src/core/model.ts";
import { Check } from "../kit/field.tsx";

interface CapabilitiesProps {
  readonly legend: string;
  readonly chosen: readonly Capability[];
  readonly onChange: (chosen: readonly Capability[]) => void;
}

/** Keeps the order of the catalogue, so that ticking a capability and unticking it again is no change. */
export function Capabilities({ legend, chosen, onChange }: CapabilitiesProps) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="row wrap">
        {CAPABILITIES.map((capability) => (
          <Check
            key={capability}
            label={capability}
            isOn={chosen.includes(capability)}
            onChange={(isOn) =>
              onChange(CAPABILITIES.filter((each) => (each === capability ? isOn : chosen.includes(each))))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
