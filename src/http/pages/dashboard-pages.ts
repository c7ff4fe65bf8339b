// The dashboard's pages, as plain data for both programs. The server answers these paths with the dashboard; the
// dashboard makes its router, navigation, command palette and keyboard help from the same rows. Imports nothing.

interface DashboardPage {
  /** The folder of the page: `ui/pages/<name>/`. */
  readonly name: string;
  /** A path below it belongs to the page too: `/keys` also answers `/keys/key_1`. */
  readonly path: `/${string}`;
  readonly title: string;
  /** `g` and then this letter opens the page. It must be one of the title's letters. */
  readonly key: string;
  /** The heading that the page stands under in the navigation. Pages of a group follow each other. */
  readonly group: "" | "Traffic" | "Routing" | "Account";
  /** The permission that its user needs, by the name in `exchange/permissions.ts`; everybody opens one without. */
  readonly needs?: string;
  /** The path of an SVG drawing of 16 by 16, drawn with a line of 1.5. */
  readonly icon: string;
}

/** In the order of the navigation. A row here asks for a component in `ui/pages/other-pages.ts`. */
export const DASHBOARD_PAGES = [
  {
    name: "overview",
    path: "/",
    title: "Overview",
    key: "o",
    group: "",
    needs: "readTotals",
    icon: "M2 2h5v7H2zM9 7h5v7H9zM2 12h5v2H2zM9 2h5v2H9z",
  },
  {
    name: "requests",
    path: "/requests",
    title: "Requests",
    key: "r",
    group: "Traffic",
    needs: "readRequests",
    icon: "M2 4h12M2 8h12M2 12h8",
  },
  {
    name: "sessions",
    path: "/sessions",
    title: "Sessions",
    key: "e",
    group: "Traffic",
    needs: "readRules",
    icon: "M2 3h9v6H6l-3 3V9H2zM13 6h1v6h-1v2l-2-2H8",
  },
  {
    name: "explore",
    path: "/explore",
    title: "Explore",
    key: "x",
    group: "Traffic",
    needs: "explore",
    icon: "M2 2v12h12M5 11V8M8.5 11V4M12 11V6",
  },
  {
    name: "outcomes",
    path: "/outcomes",
    title: "Outcomes",
    key: "u",
    group: "Traffic",
    needs: "readRules",
    icon: "M2 8l4 4 8-8",
  },
  {
    name: "playground",
    path: "/playground",
    title: "Playground",
    key: "p",
    group: "Routing",
    needs: "manage",
    icon: "M4 2.5v11L13 8z",
  },
  {
    name: "profiles",
    path: "/profiles",
    title: "Profiles",
    key: "f",
    group: "Routing",
    needs: "readRules",
    icon: "M2 4h7M13 4h1M2 12h1M7 12h7M11 2v4M5 10v4",
  },
  {
    name: "models",
    path: "/models",
    title: "Models",
    key: "m",
    group: "Routing",
    icon: "M8 1.5l6 3.3v6.4l-6 3.3-6-3.3V4.8zM2 4.8l6 3.3 6-3.3M8 8.1v6.4",
  },
  {
    name: "providers",
    path: "/providers",
    title: "Providers",
    key: "v",
    group: "Routing",
    icon: "M5 5V2M11 5V2M3 5h10v3a5 5 0 0 1-10 0zM8 13v2",
  },
  {
    name: "keys",
    path: "/keys",
    title: "Keys",
    key: "k",
    group: "Account",
    needs: "readKeys",
    icon: "M8 8a3 3 0 1 0-6 0 3 3 0 1 0 6 0h6v3M11 8v2",
  },
  {
    name: "teams",
    path: "/teams",
    title: "Teams",
    key: "a",
    group: "Account",
    needs: "readCatalog",
    icon: "M8 2v4M4 6h8M4 6v3M12 6v3M2 9h4v4H2zM10 9h4v4h-4z",
  },
  {
    name: "members",
    path: "/members",
    title: "Members",
    key: "b",
    group: "Account",
    needs: "manage",
    icon: "M6 7a2.5 2.5 0 1 0 0-5 2.5 2.5 0 1 0 0 5M1.5 14a4.5 4.5 0 0 1 9 0M11 3a2 2 0 1 1 0 4M12 9.5a4 4 0 0 1 2.5 4.5",
  },
  {
    name: "budgets",
    path: "/budgets",
    title: "Budgets",
    key: "t",
    group: "Account",
    needs: "readMoney",
    icon: "M2 4h12M2 4v2h8V4M2 10h12M2 10v2h5v-2",
  },
  {
    name: "credits",
    path: "/credits",
    title: "Credits",
    key: "c",
    group: "Account",
    needs: "readMoney",
    icon: "M2 4h12v9H2zM2 7h12M10 10h2",
  },
  {
    name: "alerts",
    path: "/alerts",
    title: "Alerts",
    key: "l",
    group: "Account",
    icon: "M8 2a4 4 0 0 1 4 4v3l1.5 2.5h-11L4 9V6a4 4 0 0 1 4-4M6.5 14h3",
  },
  {
    name: "audit",
    path: "/audit",
    title: "Audit",
    key: "d",
    group: "Account",
    icon: "M3 2h10v12H3zM6 5h4M6 8h4M6 11h2",
  },
  {
    name: "settings",
    path: "/settings",
    title: "Settings",
    key: "s",
    group: "Account",
    icon: "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 1 0 0-5M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.5 1.5M11.5 11.5 13 13M13 3l-1.5 1.5M4.5 11.5 3 13",
  },
] as const satisfies readonly DashboardPage[];

/** The page that an address belongs to; null where there is none. */
export function pageAt(path: string): (typeof DASHBOARD_PAGES)[number] | null {
  const top = `/${path.split("/")[1] ?? ""}`;
  return DASHBOARD_PAGES.find((page) => page.path === top) ?? null;
}
