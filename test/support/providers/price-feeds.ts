// Price feeds as LiteLLM and genai-prices write them, with models of Groq.

/** USD per million tokens, by model. */
export type Prices = Readonly<Record<string, readonly [input: number, output: number]>>;

export function litellm(prices: Prices, vendor = "groq"): object {
  const rows = Object.entries(prices).map(([id, [input, output]]) => {
    const costs = { input_cost_per_token: input / 1e6, output_cost_per_token: output / 1e6 };
    return [`${vendor}/${id}`, { litellm_provider: vendor, mode: "chat", ...costs, supports_function_calling: true }];
  });
  return Object.fromEntries(rows);
}

export function genai(prices: Prices): object {
  const models = Object.entries(prices).map(([id, [input, output]]) => ({
    ...{ id, prices: { input_mtok: input, output_mtok: output } },
  }));
  return [{ id: "groq", name: "Groq", models }];
}
