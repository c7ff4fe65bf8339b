// The help page of `switchyard apply`.

import { flags, type HelpPage } from "./layout.ts";

export const APPLY_PAGE: HelpPage = {
  summary: "Keep a gateway as a file says, or show what differs: apply gateway.yaml --plan",
  about: "makes configuration, profiles, teams, keys and budgets of a gateway as a file says, over its API.",
  examples: [
    "switchyard apply gateway.yaml --plan",
    "switchyard apply gateway.yaml",
    "switchyard apply gateway.yaml --prune --yes --url https://gateway.example.com",
  ],
  tables: [
    flags(
      ["--plan", "Change nothing; exit code 3 if something differs"],
      ["--prune", "Also remove what the sections of the file do not name"],
      ["--yes", "Do not ask before something is removed"],
      ["--url URL", "Where the gateway is, when it is not on this machine"],
    ),
  ],
  notes: [
    "It needs the admin token in SWITCHYARD_ADMIN_TOKEN.",
    "Things are known by their names. A second run changes nothing. The text of a new key goes to standard output, once.",
  ],
};
