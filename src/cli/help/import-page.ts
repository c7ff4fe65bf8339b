// The help page of `switchyard import`.

import { flags, type HelpPage } from "./layout.ts";

export const IMPORT_PAGE: HelpPage = {
  summary: "Write a configuration from that of another gateway: import litellm config.yaml",
  about:
    "writes switchyard.yaml from another gateway's configuration or from the environment, and lists what it left out.",
  examples: [
    "switchyard import litellm config.yaml",
    "switchyard import litellm config.yaml --out - > switchyard.yaml",
    "switchyard import openrouter",
    "switchyard import env",
  ],
  tables: [
    [
      "Subcommands",
      [
        ["litellm FILE", "A config.yaml of LiteLLM; - is standard input"],
        ["openrouter", "OpenRouter as the provider"],
        ["env", "Every provider whose key is in the environment"],
      ],
    ],
    flags(
      ["--out FILE", "The file to write (switchyard.yaml); - is standard output"],
      ["--force", "Also where the file exists; the old one is kept beside it as FILE.1.bak"],
    ),
  ],
  notes: [
    "Keys are written as references to variables. A key in plain text is not copied.",
    "Comments of a LiteLLM file go to the models they stand at, and the others to the top.",
    "Virtual keys, teams and spends are in LiteLLM's database and cannot be moved: it stores hashes alone.",
  ],
};
