// The operations of /v1.

import { idInPath, json, type Operation, v1 } from "./operation.ts";

const hello = { model: "auto", messages: [{ role: "user", content: "What is the capital of France?" }] };

export const V1_OPERATIONS: readonly Operation[] = [
  v1("createChatCompletion", "post", "/v1/chat/completions", {
    summary: "Route a chat request to a model and answer it, whole or as a stream",
    body: json("ChatCompletionRequest", hello),
    answer: { ...json("ChatCompletion"), "text/event-stream": { schema: { type: "string" } } },
    errors: ["402", "404", "409", "422"],
  }),
  v1("createMessage", "post", "/v1/messages", {
    summary: "The same in Anthropic's Messages format",
    body: json("MessagesRequest", { model: "auto", max_tokens: 1024, messages: hello.messages }),
    answer: { ...json("Message"), "text/event-stream": { schema: { type: "string" } } },
    errors: ["402", "404", "409", "422"],
    errorSchema: "MessagesError",
  }),
  v1("countMessageTokens", "post", "/v1/messages/count_tokens", {
    summary: "A local estimate of a Messages request's input tokens, free of charge",
    body: json("MessagesRequest", { model: "auto", messages: hello.messages }),
    answer: json("TokenCount"),
    errors: ["422"],
    errorSchema: "MessagesError",
  }),
  v1("explainRouting", "post", "/v1/routing/debug", {
    summary: "The decision a request would get; no provider call, no charge",
    body: json("RoutingDebugRequest", { prompt: "Prove that the square root of 2 is irrational." }),
    answer: json("RoutingDebug"),
    errors: ["404", "422"],
  }),
  v1("listModels", "get", "/v1/models", {
    summary: "The models this key can reach",
    answer: json("ModelList"),
    errors: [],
  }),
  v1("getModel", "get", "/v1/models/{id}", {
    summary: "One model",
    parameters: [idInPath],
    answer: json("Model"),
    errors: ["404"],
  }),
  v1("getModelWithSlash", "get", "/v1/models/{id}/{name}", {
    summary: "One model whose id has a slash: what stands before and after it",
    parameters: [idInPath, { ...idInPath, name: "name" }],
    answer: json("Model"),
    errors: ["404"],
  }),
];
