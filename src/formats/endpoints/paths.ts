// Paths of the endpoints other than chat.

import { pathsOf } from "./paths-of.ts";

export const EMBEDDINGS_PATHS = pathsOf({
  path: "/v1/embeddings",
  operation: "createEmbeddings",
  summary: "Embeddings from the model that is named; a model of another endpoint is 400 `wrong_endpoint`",
  example: { input: "YOUR_TEXT" },
});

export const RERANK_PATHS = pathsOf({
  path: "/v1/rerank",
  operation: "rerankDocuments",
  summary:
    "Documents in order of relevance, by the model that is named; one of another endpoint is 400 `wrong_endpoint`",
  example: { query: "YOUR_QUERY", documents: ["YOUR_TEXT"] },
});

export const MODERATION_PATHS = pathsOf({
  path: "/v1/moderations",
  operation: "moderate",
  summary: "Whether a text or an image is harmful, by the model that is named or the first one there is",
  example: { input: "YOUR_TEXT" },
});
