// Routing rules: options of the section `routing` that can change while the gateway runs.

import { useLoad } from "../../api.ts";
import { TextField } from "../../kit/field.tsx";
import { Shown } from "../../kit/states.tsx";
import { typedOption } from "../../parts/configuration/options.tsx";
import type { GatewaySettings } from "../../types.ts";
import * as TEXT from "./text.ts";

/** Typed values, each by the path of its option. */
export type RuleEdits = Readonly<Record<string, string>>;

/** Converts typed texts into values of the configuration, which has numbers and truth values, too. */
export function rulesOf(edits: RuleEdits): Readonly<Record<string, unknown>> {
  const pairs = Object.entries(edits).filter(([, text]) => text.trim() !== "");
  return Object.fromEntries(pairs.map(([path, text]) => [TEXT.ruleOf(path), typedOption(text)]));
}

interface RulesProps {
  readonly edits: RuleEdits;
  readonly onChange: (edits: RuleEdits) => void;
}

/** Shows every rule. Rules that file or environment set have no field, since they can only be changed there. */
export function Rules({ edits, onChange }: RulesProps) {
  const settings = useLoad<GatewaySettings>("/api/settings");
  return (
    <details class="card">
      <summary>{TEXT.rules}</summary>
      <Shown load={settings} rows={4}>
        {({ options }) =>
          options
            .filter(({ path, isLive }) => isLive && path?.startsWith("routing."))
            .map(({ name, path, value, origin, place, help }) =>
              origin === "default" || origin === "version" ? (
                <TextField
                  key={name}
                  label={TEXT.ruleOf(path ?? "")}
                  value={edits[path ?? ""] ?? value ?? ""}
                  onInput={(text) => onChange({ ...edits, [path ?? ""]: text })}
                  hint={help}
                />
              ) : (
                <p key={name}>
                  {TEXT.ruleOf(path ?? "")}: {value} <small class="faint">{TEXT.lockedBy(place ?? "")}</small>
                </p>
              ),
            )
        }
      </Shown>
    </details>
  );
}
