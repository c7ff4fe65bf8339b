// @ts-check
// The navigation of the documentation: every page, in reading order. A test holds it equal to the files.

/** @typedef {{ text: string, link: string }} Entry */

/** @type {readonly { text: string, items: readonly Entry[] }[]} */
export const SECTIONS = [
  { text: "Start", items: [{ text: "What Switchyard is", link: "/" }] },
  {
    text: "Concepts",
    items: [
      { text: "Routing", link: "/concepts/routing" },
      { text: "Charging", link: "/concepts/charging" },
      { text: "When providers fail", link: "/concepts/reliability" },
    ],
  },
  { text: "Dashboard", items: [{ text: "Tour", link: "/dashboard/" }] },
  {
    text: "Reference",
    items: [
      { text: "API", link: "/reference/api" },
      { text: "Configuration", link: "/reference/configuration" },
      { text: "Command line", link: "/reference/cli" },
      { text: "Errors", link: "/reference/errors" },
      { text: "Compatibility", link: "/reference/compatibility" },
    ],
  },
  {
    text: "Operate",
    items: [
      { text: "Deployment", link: "/operate/deployment" },
      { text: "More than one process", link: "/operate/scaling" },
      { text: "Backups and data loss", link: "/operate/backups" },
      { text: "Observability", link: "/operate/observability" },
      { text: "Request log", link: "/operate/request-log" },
      { text: "Limits and overload", link: "/operate/limits" },
      { text: "Performance", link: "/operate/performance" },
    ],
  },
  {
    text: "Contribute",
    items: [
      { text: "Architecture", link: "/contribute/architecture" },
      { text: "Behaviour", link: "/contribute/behaviour" },
      { text: "Extending", link: "/contribute/extending" },
      { text: "Testing under faults", link: "/contribute/testing" },
      { text: "Model card", link: "/contribute/model-card" },
      { text: "Routing lab notebook", link: "/contribute/routing-experiments" },
    ],
  },
];
