// Clouds that can be connected with a form: those whose models the catalogue prices, so that nothing else has to be typed.

import * as TEXT from "../text.ts";

export interface Cloud {
  readonly kind: string;
  readonly name: string;
  readonly hint: string;
  /** The usual name of such a provider. */
  readonly id: string;
  /** The usual region. */
  readonly region?: string;
}

export const CLOUDS: readonly Cloud[] = [
  { kind: "bedrock-converse", name: TEXT.bedrock, hint: TEXT.bedrockHint, id: "bedrock" },
  { kind: "vertex", name: TEXT.vertex, hint: TEXT.vertexHint, id: "vertex", region: "global" },
  {
    ...{ kind: "vertex-anthropic", name: TEXT.vertexClaude, hint: TEXT.vertexClaudeHint },
    ...{ id: "vertex-claude", region: "global" },
  },
  { kind: "azure-anthropic", name: TEXT.foundry, hint: TEXT.foundryHint, id: "foundry" },
];
