// The form of the playground: the messages, the tools, and everything a caller or a profile may ask for.

import { useLoad } from "../../api.ts";
import { Button, Segmented } from "../../kit/button.tsx";
import { SelectField, TextArea, TextField } from "../../kit/field.tsx";
import { TIER_OPTIONS } from "../../kit/tier.tsx";
import { ControlFields } from "../../parts/control-fields.tsx";
import { type Draft, parsedTools } from "../../parts/playground-draft.ts";
import type { List, Model, Profile } from "../../types.ts";
import * as TEXT from "./text.ts";

/** The draft and how to change some of it. */
interface FormProps {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
}

/** The prompt, and folded away what most prompts do without. */
export function Prompt({ draft, set }: FormProps) {
  return (
    <section class="card">
      <TextArea label={TEXT.prompt} rows={6} value={draft.prompt} onInput={(prompt) => set({ prompt })} isFocused />
      <details open={draft.system !== "" || draft.turns.length > 0}>
        <summary>{TEXT.conversation}</summary>
        <TextArea label={TEXT.systemPrompt} rows={2} value={draft.system} onInput={(system) => set({ system })} />
        {draft.turns.map((turn, index) => (
          <TextArea
            // Turns have no id; they are added and removed at the end only.
            key={`${index}-${turn.role}`}
            label={TEXT.earlierMessageNumber(index + 1, turn.role)}
            rows={2}
            value={turn.content}
            onInput={(content) =>
              set({ turns: draft.turns.map((each, at) => (at === index ? { ...each, content } : each)) })
            }
          />
        ))}
        <p class="row">
          <Button onClick={() => set({ turns: [...draft.turns, { role: roleOf(draft), content: "" }] })}>
            {TEXT.addEarlierMessage}
          </Button>
          {draft.turns.length > 0 && (
            <Button kind="quiet" onClick={() => set({ turns: draft.turns.slice(0, -1) })}>
              {TEXT.removeLastMessage}
            </Button>
          )}
        </p>
      </details>
      <Tools draft={draft} set={set} />
    </section>
  );
}

/** Earlier turns alternate, beginning with the user. */
function roleOf({ turns }: Draft): "user" | "assistant" {
  return turns.length % 2 === 0 ? "user" : "assistant";
}

/** Tools as JSON; while it does not parse, the draft is routed without them. */
function Tools({ draft, set }: FormProps) {
  // An empty field is no mistake.
  const isBroken = draft.tools.trim() !== "" && parsedTools(draft) === undefined;
  return (
    <details open={draft.tools !== ""}>
      <summary>{TEXT.tools}</summary>
      <p class="row">
        {Object.entries(TOOL_PRESETS).map(([name, tools]) => (
          <Button key={name} onClick={() => set({ tools: JSON.stringify(tools, null, 2) })}>
            {name}
          </Button>
        ))}
      </p>
      <TextArea
        label={TEXT.toolsJson}
        isCode
        rows={5}
        value={draft.tools}
        onInput={(tools) => set({ tools })}
        error={isBroken ? TEXT.invalidJson : null}
      />
    </details>
  );
}

/** A tool in the OpenAI format. */
function tool(name: string, description: string, properties: object): object {
  return { type: "function", function: { name, description, parameters: { type: "object", properties } } };
}

/** One tool, two that go together, and a set as coding agents have it: three different scenarios for the router. */
const TOOL_PRESETS = {
  [TEXT.weatherTools]: [tool("get_weather", TEXT.weatherInACity, { city: { type: "string" } })],
  [TEXT.searchTools]: [
    tool("web_search", TEXT.searchTheWeb, { query: { type: "string" } }),
    tool("open_page", TEXT.readAPage, { url: { type: "string" } }),
  ],
  [TEXT.fileTools]: [
    tool("read_file", TEXT.readAFile, { path: { type: "string" } }),
    tool("write_file", TEXT.writeAFile, { path: { type: "string" }, text: { type: "string" } }),
    tool("run", TEXT.runACommand, { command: { type: "string" } }),
  ],
};

/** One prompt for about each tier. */
const EXAMPLES: readonly (readonly [string, string])[] = [
  ["chitchat", TEXT.nanoExample],
  ["question", TEXT.simpleExample],
  ["summary", TEXT.lightExample],
  ["code", TEXT.standardExample],
  ["design", TEXT.complexExample],
];

/** An example replaces the conversation, which would change its tier. */
export function Examples({ set }: Pick<FormProps, "set">) {
  return (
    <p class="row examples">
      <span class="faint">{TEXT.examples}</span>
      {EXAMPLES.map(([name, prompt]) => (
        <Button key={name} kind="quiet" onClick={() => set({ prompt, turns: [], from: null })}>
          {name}
        </Button>
      ))}
    </p>
  );
}

/** The controls of a request. Those that depend on who chooses appear with it. */
export function Controls({ draft, set, profiles }: FormProps & { readonly profiles: readonly Profile[] }) {
  const models = useChatModels();
  const options = [
    { value: "", label: TEXT.noProfile },
    ...profiles.map(({ id, name }) => ({ value: id, label: name })),
  ];
  return (
    <section class="card">
      <SelectField
        label={TEXT.profile}
        value={draft.profileId}
        options={options}
        onChange={(id) => set({ profileId: id })}
      />
      <Segmented
        label={TEXT.routing}
        choices={[
          { value: "auto", label: TEXT.automatic },
          { value: "tier", label: TEXT.tier },
          { value: "direct", label: TEXT.model },
        ]}
        value={draft.mode}
        onChange={(mode) => set({ mode: mode as Draft["mode"], model: draft.model || (models[0]?.id ?? "") })}
      />
      {draft.mode === "tier" && (
        <SelectField label={TEXT.tier} value={draft.tier} options={TIER_OPTIONS} onChange={(tier) => set({ tier })} />
      )}
      {draft.mode === "direct" && (
        <SelectField
          label={TEXT.model}
          value={draft.model}
          options={models.map(({ id }) => ({ value: id, label: id }))}
          onChange={(model) => set({ model })}
        />
      )}
      <ControlFields texts={draft.controls} onChange={(controls) => set({ controls })}>
        <TextField
          label={TEXT.outputTokens}
          value={draft.cap}
          onInput={(cap) => set({ cap })}
          placeholder={TEXT.auto}
        />
      </ControlFields>
    </section>
  );
}

/** Every model that a chat request can name. */
function useChatModels(): readonly Model[] {
  const all = useLoad<List<Model>>("/api/models").data?.data ?? [];
  return all.filter(({ tier }) => tier !== null);
}
