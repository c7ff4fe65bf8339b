// @ts-check
// The navigation of the documentation: every page, in reading order. A test holds it equal to the files.

/** @typedef {{ text: string, link: string }} Entry */

/** @type {readonly { text: string, items: readonly Entry[] }[]} */
export const SECTIONS = [
  {
    text: "Start",
    items: [
      { text: "What Switchyard is", link: "/" },
      { text: "Quickstart", link: "/start/quickstart" },
      { text: "Connect a provider", link: "/start/providers" },
      { text: "Connect a client", link: "/start/clients" },
      { text: "Troubleshooting", link: "/start/troubleshooting" },
    ],
  },
  {
    text: "Guides",
    items: [
      { text: "Claude Code", link: "/guides/claude-code" },
      { text: "Codex", link: "/guides/codex" },
      { text: "Gemini CLI", link: "/guides/gemini" },
      { text: "Cursor", link: "/guides/cursor" },
      { text: "opencode", link: "/guides/opencode" },
      { text: "Vercel AI SDK", link: "/guides/vercel-ai-sdk" },
      { text: "LangChain", link: "/guides/langchain" },
      { text: "Open WebUI", link: "/guides/open-webui" },
      { text: "Migrate from OpenRouter", link: "/guides/from-openrouter" },
      { text: "Migrate from LiteLLM", link: "/guides/from-litellm" },
    ],
  },
  {
    text: "Concepts",
    items: [
      { text: "Routing", link: "/concepts/routing" },
      { text: "Hosts", link: "/concepts/hosts" },
      { text: "Charging", link: "/concepts/charging" },
      { text: "When providers fail", link: "/concepts/reliability" },
      { text: "Outcomes", link: "/concepts/outcomes" },
      { text: "Sessions", link: "/concepts/sessions" },
      { text: "Cascades", link: "/concepts/cascades" },
      { text: "Stored conversations", link: "/concepts/conversations" },
      { text: "Glossary", link: "/concepts/glossary" },
    ],
  },
  {
    text: "Dashboard",
    items: [
      { text: "Tour", link: "/dashboard/" },
      { text: "Find and compare requests", link: "/dashboard/analyse" },
      { text: "Demo data", link: "/dashboard/demo" },
    ],
  },
  {
    text: "Reference",
    items: [
      { text: "API", link: "/reference/api" },
      { text: "Request fields", link: "/reference/request-fields" },
      { text: "Completions, embeddings and more", link: "/reference/other-endpoints" },
      { text: "Configuration", link: "/reference/configuration" },
      { text: "Prices", link: "/reference/prices" },
      { text: "Catalogue file", link: "/reference/catalogue" },
      { text: "Command line", link: "/reference/cli" },
      { text: "Errors", link: "/reference/errors" },
      { text: "Stability of the API", link: "/reference/api-versions" },
      { text: "Models", link: "/reference/models" },
      { text: "Compatibility", link: "/reference/compatibility" },
      { text: "Anthropic clients, other models", link: "/reference/compatibility-messages" },
      { text: "OpenAI clients, Claude models", link: "/reference/compatibility-chat" },
      { text: "OpenAI clients, Responses models", link: "/reference/compatibility-responses-provider" },
      { text: "Responses clients, any model", link: "/reference/compatibility-responses" },
      { text: "Gemini clients, any model", link: "/reference/compatibility-gemini" },
    ],
  },
  {
    text: "Operate",
    items: [
      { text: "Deployment", link: "/operate/deployment" },
      { text: "Budgets", link: "/operate/budgets" },
      { text: "Single sign-on", link: "/operate/single-sign-on" },
      { text: "Teams", link: "/operate/teams" },
      { text: "Roles", link: "/operate/roles" },
      { text: "Clouds", link: "/operate/clouds" },
      { text: "Keep prices up to date", link: "/operate/price-feeds" },
      { text: "More than one process", link: "/operate/scaling" },
      { text: "Backups and data loss", link: "/operate/backups" },
      { text: "Audit log", link: "/operate/audit" },
      { text: "Upgrade and go back", link: "/operate/versions" },
      { text: "Telemetry", link: "/operate/telemetry" },
      { text: "Observability", link: "/operate/observability" },
      { text: "Events", link: "/operate/events" },
      { text: "Alerts", link: "/operate/alerts" },
      { text: "Logs", link: "/operate/logs" },
      { text: "Traces", link: "/operate/traces" },
      { text: "Request log", link: "/operate/request-log" },
      { text: "Limits and overload", link: "/operate/limits" },
      { text: "Performance", link: "/operate/performance" },
    ],
  },
  {
    text: "Contribute",
    items: [
      { text: "Architecture", link: "/contribute/architecture" },
      { text: "From a charge to the disk", link: "/contribute/ledger" },
      { text: "Behaviour", link: "/contribute/behaviour" },
      { text: "Extending", link: "/contribute/extending" },
      { text: "Testing", link: "/contribute/testing" },
      { text: "Benchmarks", link: "/contribute/benchmarks" },
      { text: "Model card", link: "/contribute/model-card" },
      { text: "Routing lab notebook", link: "/contribute/routing-experiments" },
    ],
  },
];
