// Every page but the overview, which is the first one to be seen. Their code is one file of its own: many small ones
// compress badly.

import type { ComponentType } from "preact";
import type { DASHBOARD_PAGES } from "../../src/http/pages/dashboard-pages.ts";
import { Alerts } from "./alerts/index.tsx";
import { Audit } from "./audit/index.tsx";
import { Budgets } from "./budgets/index.tsx";
import { Credits } from "./credits/index.tsx";
import { Explore } from "./explore/index.tsx";
import { Keys } from "./keys/index.tsx";
import { Members } from "./members/index.tsx";
import { Models } from "./models/index.tsx";
import { Outcomes } from "./outcomes/index.tsx";
import { Playground } from "./playground/index.tsx";
import { Profiles } from "./profiles/index.tsx";
import { Providers } from "./providers/index.tsx";
import { Requests } from "./requests/index.tsx";
import { Sessions } from "./sessions/index.tsx";
import { Settings } from "./settings/index.tsx";
import { Teams } from "./teams/index.tsx";

type PageName = Exclude<(typeof DASHBOARD_PAGES)[number]["name"], "overview">;

/** The compiler asks for a component for every row of the shared list, and for no other. */
export const OTHER_PAGES: Readonly<Record<PageName, ComponentType>> = {
  requests: Requests,
  sessions: Sessions,
  explore: Explore,
  outcomes: Outcomes,
  playground: Playground,
  profiles: Profiles,
  models: Models,
  providers: Providers,
  keys: Keys,
  teams: Teams,
  members: Members,
  budgets: Budgets,
  credits: Credits,
  alerts: Alerts,
  audit: Audit,
  settings: Settings,
};
