// The operations of the playground, and of trying out a profile on the past.

import { account, api, json, type Operation } from "./operation.ts";

const prompt = "Prove that the square root of 2 is irrational.";

export const PLAYGROUND_OPERATIONS: readonly Operation[] = [
  api("decideInPlayground", "post", "/api/playground/decide", {
    summary: "The decision a request would get under a saved or an unsaved profile; no provider call, no charge",
    parameters: [account],
    body: json("PlaygroundRequest", { prompt, profile: { tierCeiling: "STANDARD" } }),
    answer: json("PlaygroundDecision"),
    errors: ["422"],
  }),
  api("runInPlayground", "post", "/api/playground/run", {
    summary: "The same request answered for real, whole or as a stream, and charged to the account",
    parameters: [account],
    body: json("PlaygroundRequest", { prompt, stream: true }),
    answer: { ...json("ChatCompletion"), "text/event-stream": { schema: { type: "string" } } },
    errors: ["402", "422", "429", "503"],
  }),
  api("replayProfile", "post", "/api/profiles/replay", {
    summary: "The newest requests of the account under these rules: what would change, and what it would have cost",
    parameters: [account],
    body: json("ReplayQuestion", { profile: { tierFloor: "LIGHT" }, limit: 100 }),
    answer: json("Replay"),
  }),
];
