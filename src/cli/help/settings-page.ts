// The help page of settings.

import { flagsOfAll, type HelpPage } from "./layout.ts";

export const SETTINGS_PAGE: HelpPage = {
  summary: "Change options at run time, see their history and roll back",
  about: "shows and changes the options that can change while the gateway runs.",
  examples: [
    "switchyard settings get",
    "switchyard settings set logging.retentionDays 90",
    'switchyard settings set limits.requestsPerMinute 1200 --note "More tools in use"',
    "switchyard settings rollback 7",
  ],
  tables: [
    [
      "Subcommands",
      [
        ["get [OPTION]", "All options with value, default and place, or the value of one"],
        ["set OPTION VALUE", "Change an option; lists have commas between their words"],
        ["reset OPTION", "Take the change out, so that the default counts"],
        ["history", "The newest 50 changes with author and time"],
        ["rollback VERSION", "All options as in that version; 0 is before any change"],
        ["  --note TEXT", "Why, for the history"],
      ],
    ],
    flagsOfAll(),
  ],
  notes: [
    "A running server uses a change within seconds. Requests that have begun finish as they began.",
    "What file, environment or flag set is locked. Providers, models and chains stay.",
  ],
};
