// Notes: what the gateway did to a request that its caller did not ask for. An answer carries them as `service.notes`.

/** Each code with the sentence that the docs say about it. A client may rely on the codes, not on the messages. */
export const NOTE_CODES = {
  output_capped_by_balance: "The balance does not cover an answer of usual length, so the output was capped.",
  chain_shortened_by_balance: "The balance does not cover the model that was chosen, so a cheaper one was used.",
  budget_spent: "A soft budget that counts the request is spent. The message names it.",
  model_over_budget: "A budget of the model that was chosen is spent, so another model of the chain was used.",
  unknown_control: "A field that begins with `service_` has a name that the gateway does not know. It was ignored.",
  tool_dropped: "The model that answered was not offered a tool, because its provider cannot run it.",
  option_dropped: "An option was left out, because the model or its provider does not take it.",
  option_changed: "An option was replaced by the nearest one that the model or its provider takes.",
  content_converted: "Messages, tools or their names were rewritten in the form that the provider takes.",
  context_edited: "Results or thinking of earlier turns were left out, because the request asks for that.",
  reasoning_dropped: "Reasoning of earlier turns was left out, because only the model that wrote it can read it.",
  model_alias: "The request named its model by an alias. The note says which model of the catalogue that is.",
  usage_estimated: "The provider counted no tokens that can be true. The charge is an estimate of what was delivered.",
  service_tier_changed:
    "The provider answered at another service tier than it was asked for, and that tier is charged.",
  service_tier_untold:
    "A service tier was asked for, and the provider did not say which one it was. The dearer of that and the usual one is charged.",
  models_ignored: "The list `models` counts only where `model` does: with `direct`, or if the key honours names.",
  model_left_out: "A model of the list `models` was not tried. The message says why.",
  model_retires: "The model that was asked for by name retires soon or has retired.",
  price_provisional: "The price of the model that answered is provisional and may still change.",
  model_provisional:
    "The model that answered is provisional: its provider lists it and a price list prices it, but nobody has proven it yet.",
  not_stored: "The completion could not be stored, so it cannot be read again. The answer itself is whole.",
  cascade_used: "A cheaper answer failed its check, so the next tier answered. Both answers are charged.",
  cascade_unused: "The request asks for a cascade, but was answered without one. The message says why.",
  cascade_unmet: "The answer does not pass the checks of its cascade, and no further tier was asked.",
} as const;

export type NoteCode = keyof typeof NOTE_CODES;

export interface Note {
  readonly code: NoteCode;
  readonly message: string;
}

export const NO_NOTES: readonly Note[] = [];
