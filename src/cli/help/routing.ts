// The pages of help on routing: profiles, models and route.

import { flags, flagsOfAll, type HelpPage } from "./page.ts";

export const profilesPage: HelpPage = {
  summary: "Make, list, change and delete routing profiles",
  about: "saved rules that a key puts on every request made with it. Works beside a running server.",
  examples: [
    "switchyard profiles set cheap --ceiling LIGHT --max-cost 0.002",
    "switchyard profiles set cheap --max-cost none --description 'For batch jobs'",
    "switchyard keys create --name app --profile cheap",
    "switchyard profiles show cheap --json",
    "switchyard profiles delete cheap --yes",
  ],
  tables: [
    [
      "Subcommands",
      [
        ["list", "All profiles of the account"],
        ["show NAME", "One, by name or id, with the keys that have it"],
        ["set NAME", "Make it, or change what is given; none takes a rule away"],
        ["  --description TEXT", "What it is for, in a line"],
        ["  --floor, --ceiling TIER", "NANO, SIMPLE, LIGHT, STANDARD or COMPLEX"],
        ["  --needs LIST", "Capabilities, with commas between: tools,vision,json"],
        ["  --max-cost USD", "Of one request"],
        ["  --bfcl-min SCORE", "Function-calling score, 0 to 100"],
        ["  --code-quality, --chat-quality N", "0 fast, 1 balanced, 2 best"],
        ["  --allow, --block LIST", "Model ids, with commas between"],
        ["delete NAME", "Its keys are refused from then on; --yes to not be asked"],
      ],
    ],
    flagsOfAll(["--account ID", "Whose profiles: default when left out"]),
  ],
};

export const modelsPage: HelpPage = {
  summary: "List models with prices and scores, and check them with the providers: models list, models check",
  about: "the catalogue as this configuration has it, and whether providers offer what it says.",
  examples: ["switchyard models list", "switchyard models list --tier LIGHT", "switchyard models check --json"],
  tables: [
    [
      "Subcommands",
      [
        ["list", "All models with prices, scores and what they can do; nobody is called"],
        ["  --tier TIER", "The chain of one tier, in the order its models are tried"],
        ["check", "Ask each provider for its own list, which costs nothing, and compare"],
      ],
    ],
    flagsOfAll(["--no-color", "No colour, as with NO_COLOR set"]),
  ],
  notes: [
    "check ends with 1 when a provider refuses the key or cannot be reached, when a model that requests are routed to is missing from its list, or when the list has another price. Models that nothing is routed to, prices older than 180 days and providers without a list are marked with ! and fail nothing.",
  ],
};

export const routePage: HelpPage = {
  summary: 'Show the decision a prompt would get: route "What is 2+2?"',
  about: "the decision a prompt would get. No server is needed, no provider called, nothing charged.",
  examples: [
    'switchyard route "What is 2+2?"',
    'switchyard route "Prove that there are infinitely many primes" --ceiling STANDARD',
    'switchyard route "Translate this" --profile cheap --json',
    'switchyard route "And in Rome?" --messages turns.json --tools tools.json',
    "switchyard route - < prompt.txt",
  ],
  tables: [
    flags(
      ["--profile NAME", "Under this saved profile, by name or id; --account ID says whose"],
      ["--tier TIER", "Force this tier: NANO, SIMPLE, LIGHT, STANDARD or COMPLEX"],
      ["--model ID", "Ask for this model directly"],
      ["--floor, --ceiling TIER", "As service_tier_floor and service_tier_ceiling"],
      ["--code-quality, --chat-quality N", "0 fast, 1 balanced, 2 best"],
      ["--max-cost USD", "As service_max_cost"],
      ["--bfcl-min SCORE", "As service_bfcl_min, 0 to 100; counts with tools only"],
      ["--system TEXT", "System prompt"],
      ["--max-output TOKENS", "Expected length of the answer"],
      ["--tools FILE", "Tools offered: a JSON array in a file, on standard input (-) or written out"],
      ["--messages FILE", "Earlier turns, in the same way; without a prompt, the whole conversation"],
    ),
  ],
  notes: [
    "A prompt of - is read from standard input. A prompt that starts with dashes goes after --, such a value after =.",
  ],
};
