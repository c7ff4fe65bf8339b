// The pages of help on running it: serve and doctor.

import { flags, type HelpPage } from "./page.ts";

export const servePage: HelpPage = {
  summary: "Start the gateway; also what happens without a command",
  about: "starts the gateway: the API, the dashboard and everything behind them. Also what happens without a command.",
  examples: [
    "switchyard",
    "OPENAI_API_KEY=… switchyard",
    "switchyard serve --port 9000 --host 0.0.0.0",
    "switchyard serve --config staging.yaml",
    "switchyard serve --demo",
  ],
  tables: [
    [
      "Flags",
      [["--demo", "On a temporary store filled with a made-up month, to see the dashboard alive; --database keeps it"]],
    ],
  ],
  notes: [
    "Without a provider's key the sandbox answers, with simulated text. The first start prints an API key and a one-time link to the dashboard.",
    "--demo calls no provider, whatever is configured, and refuses a database that holds requests or money.",
    "SIGTERM and Ctrl-C let open requests finish; a second one cuts them off.",
  ],
};

export const doctorPage: HelpPage = {
  summary: "Check configuration, database, port and providers, and say what to mend",
  about:
    "checks the configuration, Node, the data folder, the disk, the database, Redis, the port, the dashboard's files, the providers and the clock.",
  examples: [
    "switchyard doctor",
    "switchyard doctor --test",
    "switchyard doctor --config staging.yaml",
    "switchyard doctor --json",
  ],
  tables: [
    flags(
      ["--test", "Ask each provider for one tiny answer; the provider charges for it, a fraction of a cent"],
      ["--no-color", "No colour, as with NO_COLOR set"],
    ),
  ],
  notes: ["Without --test providers are asked for their lists of models only, which costs nothing."],
};
