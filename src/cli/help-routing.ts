// The pages of help on routing: profiles, models and route.

import { EXIT_CODES, indent, lines, page } from "./help-page.ts";
import { formatTable } from "./table.ts";

const CONFIGURATION = ["", "Configuration flags (--config, --database, …) work here too: switchyard help"] as const;

export function profilesPage(): string {
  return page([
    [
      "",
      "switchyard profiles: saved rules that a key puts on every request made with it. Works beside a running server.",
    ],
    [
      "Examples",
      lines([
        "switchyard profiles set cheap --ceiling LIGHT --max-cost 0.002",
        "switchyard profiles set cheap --max-cost none",
        "switchyard keys create --name app --profile profile_0123",
        "switchyard profiles show cheap --json",
        "switchyard profiles delete cheap --yes",
      ]),
    ],
    [
      "Subcommands",
      indent(
        formatTable([
          ["list", "All profiles of the account"],
          ["show NAME", "One, by name or id, with the keys that have it"],
          ["set NAME", "Make it, or change the rules that are given; none takes a rule away"],
          ["  --floor, --ceiling TIER", "NANO, SIMPLE, LIGHT, STANDARD or COMPLEX"],
          ["  --needs LIST", "Capabilities, with commas between: tools,vision,json"],
          ["  --max-cost USD", "Of one request"],
          ["  --bfcl-min SCORE", "Function-calling score, 0 to 100"],
          ["  --code-quality, --chat-quality N", "0 fast, 1 balanced, 2 best"],
          ["  --allow, --block LIST", "Model ids, with commas between"],
          ["delete NAME", "Its keys are refused from then on; --yes to not be asked"],
        ]),
      ),
    ],
    [
      "Flags of all four",
      indent(
        formatTable([
          ["--account ID", "Whose profiles: default when left out"],
          ["--json", "For programs"],
        ]),
      ),
    ],
    CONFIGURATION,
    EXIT_CODES,
  ]);
}

export function modelsPage(): string {
  return page([
    ["", "switchyard models list: the catalogue as this configuration has it. Nothing is called."],
    [
      "Examples",
      lines(["switchyard models list", "switchyard models list --tier LIGHT", "switchyard models list --json"]),
    ],
    [
      "Flags",
      indent(
        formatTable([
          ["--tier TIER", "The chain of one tier, in the order its models are tried"],
          ["--json", "For programs"],
        ]),
      ),
    ],
    CONFIGURATION,
    EXIT_CODES,
  ]);
}

export function routePage(): string {
  return page([
    [
      "",
      "switchyard route: the decision a prompt would get. No server is needed, no provider called, nothing charged.",
    ],
    [
      "Examples",
      lines([
        'switchyard route "What is 2+2?"',
        'switchyard route "Prove that there are infinitely many primes" --ceiling STANDARD',
        'switchyard route "Translate this" --profile cheap --json',
      ]),
    ],
    [
      "Flags",
      indent(
        formatTable([
          ["--floor, --ceiling TIER", "As service_tier_floor and service_tier_ceiling"],
          ["--tier TIER", "Force this tier"],
          ["--model ID", "Ask for this model directly"],
          ["--max-cost USD, --bfcl-min SCORE", "As service_max_cost and service_bfcl_min"],
          ["--code-quality, --chat-quality N", "0, 1 or 2"],
          ["--system TEXT, --max-output TOKENS", "System prompt and output cap"],
          ["--profile NAME", "Under this saved profile, by name or id; --account ID says whose"],
          ["--json", "For programs"],
        ]),
      ),
    ],
    CONFIGURATION,
    EXIT_CODES,
  ]);
}
