// The help pages of all commands. `switchyard help`, `COMMAND --help` and docs/reference/cli.md show the same text.

import { PROFILE_CONTROLS, REQUEST_CONTROLS } from "../../core/requests/controls.ts";
import { ACCESS_PAGES } from "./access-pages.ts";
import { APPLY_PAGE } from "./apply-page.ts";
import { IMPORT_PAGE } from "./import-page.ts";
import { controlRows, flags, flagsOfAll, type HelpPage } from "./layout.ts";
import { RUN_PAGE } from "./run-page.ts";
import { SETTINGS_PAGE } from "./settings-page.ts";

/** In the order in which `switchyard help` lists the commands; a test holds it equal to the table in main.ts. */
export const PAGES: Readonly<Record<string, HelpPage>> = {
  serve: {
    summary: "Start the gateway; also what happens without a command",
    about:
      "starts the gateway: the API, the dashboard and everything behind them. Also what happens without a command.",
    examples: [
      "switchyard",
      "OPENAI_API_KEY=… switchyard",
      "switchyard serve --port 9000 --host 0.0.0.0",
      "switchyard serve --config staging.yaml",
      "switchyard serve --demo",
      "switchyard serve --demo --public --host 0.0.0.0",
    ],
    tables: [
      [
        "Flags",
        [
          [
            "--demo",
            "On a temporary store with generated traffic of two months, signed in at once; --database keeps it",
          ],
          ["--public", "With --demo: a site for strangers, with a store of its own for each one who changes something"],
          ["--read-only", "The dashboard shows everything and changes nothing"],
        ],
      ],
    ],
    notes: [
      "Without a provider's key the sandbox answers, with simulated text. The first start prints an API key and a one-time link to the dashboard.",
      "--demo calls no provider, whatever is configured, and refuses a database that holds requests or money.",
      "SIGTERM and Ctrl-C let open requests finish; a second one cuts them off.",
    ],
  },
  run: RUN_PAGE,
  import: IMPORT_PAGE,
  apply: APPLY_PAGE,
  keys: {
    summary: "Create, list, edit, rotate and revoke API keys",
    about: "create, list, edit, rotate and revoke API keys. A running server sees changes within seconds.",
    examples: [
      "switchyard keys create --name app",
      "switchyard keys create --name trial --expires 90d --rpm 60 --spend-limit 5",
      "KEY=$(switchyard keys create --name ci)",
      "switchyard keys list --json",
      "switchyard keys set key_0123 --profile none --rpm 120",
      "switchyard keys set key_0123 --spend-limit 20 --spend-reset monthly",
      "switchyard keys rotate key_0123 --grace 7d",
      "switchyard keys revoke key_0123 --yes",
    ],
    tables: [
      [
        "Subcommands",
        [
          ["create --name NAME", "Create a key and print it once"],
          ["  --profile NAME", "Route its requests by this profile, by name or id"],
          ["  --team NAME", "Put it into this team, by name or id"],
          ["  --member EMAIL", "Give it to this user; without one, it is a service's"],
          ["  --rpm N", "Requests per minute"],
          ["  --spend-limit USD", "What it may spend, in total or between resets"],
          ["  --spend-reset WHEN", "never, daily, weekly (Monday) or monthly, at 00:00 UTC"],
          ["  --expires WHEN", "90d, 12h, 2w, 1y, or a date such as 2030-01-31"],
          ["list", "All keys, newest first"],
          ["set ID", "Change any of these; none removes one"],
          ["reset-spend ID", "Reset its spend to zero now"],
          ["rotate ID", "Create its replacement and print it once"],
          ["  --grace TIME", "How long the old key still works: 0, 1h, 7d (24h)"],
          ["revoke ID", "Revoke a key permanently; --yes skips the question"],
        ],
      ],
      flagsOfAll(["--account ID", "Whose keys: default for create, all accounts for the others"]),
    ],
  },
  profiles: {
    summary: "Create, list, edit and delete routing profiles",
    about: "saved rules that a key puts on each of its requests. Works while a server runs.",
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
          ["set NAME", "Create it, or change what is given; none removes a rule"],
          ["  --description TEXT", "What it is for, in a line"],
          ...controlRows(PROFILE_CONTROLS, "  "),
          ["delete NAME", "Its keys are refused from then on; --yes skips the question"],
        ],
      ],
      flagsOfAll(["--account ID", "Whose profiles: default when left out"]),
    ],
  },
  providers: {
    summary: "Add, change, remove and test providers at run time, and find model servers on this machine",
    about:
      "adds, changes, removes and tests providers without a restart, and finds Ollama, LM Studio, llama.cpp and vLLM.",
    examples: [
      "switchyard providers test groq --key-from groq.key",
      "switchyard providers add groq --key-from groq.key",
      "echo $NEW_KEY | switchyard providers set groq --key-from -",
      "echo $SECOND_KEY | switchyard providers add-key groq --key-from - --weight 3",
      "switchyard providers keys groq",
      "switchyard providers remove-key groq 5f0c9a3e",
      "switchyard providers remove groq",
      "switchyard providers discover",
      "switchyard providers discover 192.168.1.20",
      "switchyard providers discover http://gpu-box:8000 --json",
    ],
    tables: [
      [
        "Subcommands",
        [
          ["add NAME", "Add a provider; a built-in one needs its key only"],
          ["set NAME", "Change fields of a provider that was added at run time"],
          ["  --kind KIND", "Such as openai, anthropic or gemini"],
          ["  --base-url URL", "Its address"],
          ["  --key-from FILE", "Read the key from a file, or from standard input with -"],
          ["  --note TEXT", "Why, for the history"],
          ["remove NAME", "Remove a provider that was added at run time"],
          ["keys NAME", "Keys that were set at run time: id, last four characters and weight of each"],
          ["add-key NAME", "Add a key, read with --key-from"],
          ["  --weight NUMBER", "Its share of the conversations; 0 switches it off"],
          ["remove-key NAME KEY", "Remove one key by its id"],
          [
            "test NAME",
            "One tiny request with what is published, --kind, --base-url and --key-from; nothing is stored",
          ],
          ["discover [ADDRESS]", "Model servers with context and capabilities of each model"],
          ["  --add", "Use them: providers and models at price zero, as a new version of the configuration"],
        ],
      ],
      flagsOfAll(),
    ],
    notes: [
      "Each change is a version of the configuration; see the command versions. A running server uses it within seconds.",
      "Without ADDRESS only this machine is asked, at the usual ports. ADDRESS is a host, a host with a port, or an http address.",
    ],
  },
  chains: {
    summary: "Set the fallback chain of a tier at run time: chains set",
    about: "sets the models of a tier, first choice first. A running server uses them within seconds.",
    examples: ["switchyard chains set SIMPLE gpt-6-luna@low,claude-haiku-5-5", "switchyard chains set SIMPLE none"],
    tables: [
      [
        "Subcommands",
        [
          ["set TIER MODEL,MODEL", "The chain of a tier; none for the one that ships"],
          ["  --with-tools", "The chain for requests with tools instead"],
          ["  --note TEXT", "Why, for the history"],
        ],
      ],
      flagsOfAll(),
    ],
    notes: ["A tier that the file sets is locked and cannot be changed here."],
  },
  versions: {
    summary: "List versions of the run-time configuration, apply changes and roll back",
    about: "shows who changed the configuration when, applies changes of a file, and publishes an older version again.",
    examples: [
      "switchyard versions list",
      "switchyard versions show 7",
      "switchyard versions apply changes.yaml --replay",
      'switchyard versions apply changes.yaml --note "Cheaper models"',
      'switchyard versions rollback 7 --note "The new chain was too slow"',
    ],
    tables: [
      [
        "Subcommands",
        [
          ["list", "The newest 50 versions with author and change"],
          ["show NUMBER", "The document of a version, without secrets"],
          ["apply FILE", "Publish changes of providers, models, tiers and routing; - reads standard input"],
          ["  --replay", "Only show what they would have done to the last 500 requests of the account 'default'"],
          ["locked", "What file, environment and flags set, and where"],
          ["rollback NUMBER", "Publish it again as a new version; 0 is the state before any change"],
          ["  --note TEXT", "Why, for the history"],
        ],
      ],
      flagsOfAll(),
    ],
    notes: [
      "A running server uses a new version within seconds. Requests that have begun finish as they began.",
      "FILE has the keys of switchyard.yaml. Write only what changes; null takes something out.",
    ],
  },
  settings: SETTINGS_PAGE,
  models: {
    summary: "List and check models, update prices or the whole catalogue, and sign catalogue files",
    about: "the catalogue as this configuration has it, and whether providers offer what it says.",
    examples: [
      "switchyard models list",
      "switchyard models check --json",
      "switchyard models update --from catalogue.json --apply",
      "switchyard models export > catalogue.json",
      "switchyard models sign catalogue.json --key-from key.pem",
    ],
    tables: [
      [
        "Subcommands",
        [
          ["list", "All models with prices, scores and capabilities; no provider is called"],
          ["  --tier TIER", "The chain of one tier, in the order its models are tried"],
          ["check", "Compare with each provider's own list, which costs nothing"],
          ["update", "Compare with a price list or a signed catalogue file, and show what changed"],
          ["  --from URL|FILE", "A catalogue, or a list of LiteLLM, OpenRouter or genai-prices; else prices.url"],
          ["  --apply", "Take over what changed, as a new version of the configuration"],
          ["  --allow-older", "Take over a catalogue file that is older than the one in use"],
          ["export", "Print the catalogue in use as a file, without a signature"],
          ["sign FILE", "Write a signature into a catalogue file"],
          ["  --key-from KEY", "The Ed25519 private key: a PEM file, or - for standard input"],
        ],
      ],
      flagsOfAll(["--no-color", "No colour, as with NO_COLOR set"]),
    ],
    notes: [
      "check exits with 1 if a provider refuses the key or cannot be reached. It also does if a routed model is missing from the provider's list, or has another price there. Models that are not routed, prices older than 180 days and providers without a list are marked with ! and do not fail.",
    ],
  },
  route: {
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
        ["--model ID", "Ask for this model directly"],
        ...controlRows(REQUEST_CONTROLS),
        ["--system TEXT", "System prompt"],
        ["--max-output TOKENS", "Expected length of the answer"],
        ["--tools FILE", "Tools offered: a JSON array in a file, on standard input (-) or written out"],
        ["--messages FILE", "Earlier turns, in the same way; without a prompt, the whole conversation"],
      ),
    ],
    notes: [
      "A prompt of - is read from standard input. A prompt that starts with dashes goes after --, such a value after =.",
    ],
  },
  ...ACCESS_PAGES,
  credits: {
    summary: "Add credits, and see balance and ledger",
    about: "top-ups, adjustments, balance and ledger. A running server sees changes with its next request.",
    examples: [
      'switchyard credits add 25 --note "January"',
      "switchyard credits add 25 --idempotency-key invoice-1234",
      'switchyard credits adjust -2.50 --note "paid twice"',
      "switchyard credits balance --json",
      "switchyard credits ledger --account account_0123",
      "switchyard credits mode metered",
    ],
    tables: [
      [
        "Subcommands",
        [
          ["add AMOUNT", "Put USD into the account: decimal text such as 25 or 0.50"],
          ["adjust AMOUNT", "Adjust the balance by AMOUNT, which may be negative"],
          ["  --note TEXT", "What it was for"],
          ["  --idempotency-key KEY", "Two calls with one key count once"],
          ["balance", "Posted, on hold and available"],
          ["ledger", "The newest entries first"],
          ["mode [MODE]", "Show the billing mode, or set it: prepaid, metered, or default (billing.mode)"],
        ],
      ],
      flagsOfAll(["--account ID", "Whose credits: default when left out"]),
    ],
  },
  ledger: {
    summary: "Check the ledger: ledger verify",
    about: "checks the ledger, and decides what to do when a SQLite file lost commits.",
    examples: ["switchyard ledger verify", "switchyard ledger verify --json", "switchyard ledger accept-loss"],
    tables: [
      [
        "Subcommands",
        [
          ["verify", "Compute every wallet from its entries and every charge from its tokens and prices"],
          ["accept-loss", "Continue with a SQLite file that lost commits; the loss is recorded in it"],
          ["  --yes", "Do not ask"],
        ],
      ],
      flags(),
    ],
    notes: [
      "verify: exits with 1 when the ledger is inconsistent, and names the first rows. It locks nothing and may run while a server does, such as from cron.",
      "accept-loss: only while no server uses the file. A start refuses a file that is older than its witness file says; restore a backup first if you have one.",
    ],
  },
  backup: {
    summary: "Write a verified copy of the database to a file",
    about:
      "backup FILE copies the database with its request log while the gateway runs, reads the copy back and checks its ledger.",
    examples: ["switchyard backup switchyard-2026-11-15.backup", "switchyard backup nightly.backup --force --json"],
    tables: [flags(["--force", "Replace FILE where it exists"])],
    notes: [
      "Exit code 0 only when the copy was verified. The configuration file, environment variables, the secret and the outbox are not in it.",
      "PostgreSQL needs pg_dump and pg_restore on the PATH, in the server's version or newer.",
    ],
  },
  restore: {
    summary: "Replace the database by a backup",
    about: "restore FILE checks a backup and puts it in the place of the database. Stop the gateway first.",
    examples: ["switchyard restore switchyard-2026-11-15.backup", "switchyard restore nightly.backup --yes"],
    tables: [flags(["--yes", "Do not ask"])],
    notes: [
      "The previous database is kept: beside the new one (SQLite), or as a dump in the data folder (PostgreSQL).",
    ],
  },
  secret: {
    summary: "Give the database another secret: secret replace",
    about:
      "makes SWITCHYARD_SECRET, or secret.key in the data folder, the secret of the database. Stop every gateway first.",
    examples: [
      "switchyard secret replace",
      "SWITCHYARD_SECRET=$(openssl rand -hex 32) switchyard secret replace --yes",
    ],
    tables: [flags(["--yes", "Do not ask"])],
    notes: ["What the old secret encrypted stays unreadable: enter provider keys of the run-time configuration again."],
  },
  demo: {
    summary: "Fill a new database with generated traffic, to try the dashboard",
    about:
      "fills a new database with generated traffic, so that the dashboard has something to show. Every request is decided by the real router. No provider is called, and the credits are not real.",
    examples: [
      "switchyard demo --database sqlite:demo.db",
      "switchyard serve --demo --database sqlite:demo.db",
      "switchyard demo --requests 100000 --days 7 --database sqlite:demo.db",
    ],
    tables: [
      flags(
        ["--requests N", "How many (4000), at most 10000000"],
        ["--days N", "Spread over so many days up to now (60)"],
        ["--seed N", "Another number generates other traffic (1)"],
        ["--yes", "Also where there are requests already"],
      ),
    ],
    notes: [
      'The newest 30,000 requests are charged one by one. The rest is one correction per month, "demo: older traffic". Give the demo its own database: entries cannot be deleted.',
      "serve --demo keeps every request. Without --demo, those older than logging.retentionDays are deleted.",
    ],
  },
  migrate: {
    summary: "Show and apply database migrations: migrate status, migrate up",
    about: "whether the database has the schema that this version needs. A start brings it up to date, too.",
    examples: ["switchyard migrate status", "switchyard migrate up", "switchyard migrate status --json"],
    tables: [
      [
        "Subcommands",
        [
          ["status", "What is missing; exit code 1 when something is, or when a newer version made the database"],
          ["up", "Apply what is missing, in order"],
        ],
      ],
      flagsOfAll(),
    ],
  },
  doctor: {
    summary: "Check configuration, database, port and providers, and suggest fixes",
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
        ["--test", "Send each provider one tiny request; it costs a fraction of a cent"],
        ["--no-color", "No colour, as with NO_COLOR set"],
      ),
    ],
    notes: ["Without --test, only the providers' model lists are requested, which is free."],
  },
};
