// OpenAI's Agents SDK, unchanged: only base URL and key are set. It speaks Responses by default.

import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { CAPITAL, CITIES, CITY, HOUSES, type Houses, openHouses, WEATHER } from "../support/gateway/acting.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";

let houses: Houses;
beforeAll(async () => {
  houses = await openHouses();
});
afterAll(() => houses.close());

const runnerFor = ({ url, key }: TestGateway, apiKey = key): Runner =>
  new Runner({ modelProvider: new OpenAIProvider({ baseURL: `${url}/v1`, apiKey }), tracingDisabled: true });

describe.each(HOUSES)("on %s", (house) => {
  const expectsText = (words: string): unknown => (house === "sandbox" ? expect.stringContaining("simulated") : words);
  const helper = new Agent({ name: "Helper", instructions: "Be brief.", model: "auto" });
  let runner: Runner;
  beforeAll(() => {
    runner = runnerFor(houses[house]);
  });

  it("a plain answer", async () => {
    const result = await runner.run(helper, "What is the capital of France?");
    expect(result.finalOutput).toEqual(expectsText(CAPITAL));
    expect(result.state.usage.outputTokens).toBeGreaterThan(0);
  });

  it("a stream", async () => {
    const result = await runner.run(helper, "What is the capital of France?", { stream: true });
    let text = "";
    for await (const piece of result.toTextStream()) text += piece;
    await result.completed;
    expect(text).toEqual(expectsText(CAPITAL));
    expect(result.finalOutput).toBe(text);
  });

  it.each(["whole", "streamed"])("a tool loop with calls in parallel, %s", async (manner) => {
    const cities: string[] = [];
    const weather = tool({
      name: WEATHER,
      description: "The weather of a city",
      parameters: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        cities.push(city);
        return `20 degrees in ${city}`;
      },
    });
    const agent = new Agent({ name: "Forecaster", model: "auto", tools: [weather] });
    const question = "What is the weather in Rome and Oslo?";
    if (manner === "whole") {
      expect((await runner.run(agent, question)).finalOutput).toContain("20 degrees");
    } else {
      const result = await runner.run(agent, question, { stream: true });
      await result.completed;
      expect(result.finalOutput).toContain("20 degrees");
    }
    if (house !== "sandbox") expect(cities.sort()).toEqual([...CITIES].sort());
  });

  it("structured output", async () => {
    const outputType = z.object({ name: z.string(), people: z.number().int() });
    const describer = new Agent({ name: "Describer", model: "auto", outputType });
    const { finalOutput } = await runner.run(describer, "Describe Rome.");
    expect(finalOutput).toEqual(house === "sandbox" ? { name: expect.any(String), people: expect.any(Number) } : CITY);
  });

  it("a conversation that the gateway keeps", async () => {
    const first = await runner.run(helper, "My name is Ada.");
    const second = await runner.run(helper, "What is my name?", {
      ...(first.lastResponseId === undefined ? {} : { previousResponseId: first.lastResponseId }),
    });
    expect(second.finalOutput).toEqual(expectsText(CAPITAL));
    if (house === "sandbox") return;
    expect(houses.providers[house].requests.at(-1)?.raw).toContain("My name is Ada.");
  });

  it("a wrong key", async () => {
    const stranger = runnerFor(houses[house], "sk-service-wrong");
    await expect(stranger.run(helper, "hi")).rejects.toMatchObject({ status: 401 });
  });
});
