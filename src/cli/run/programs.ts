// Programs that `switchyard run` starts: the variables, arguments and files of the session by which each calls the
// gateway. Nothing is written to a file of theirs.

interface GatewayAccess {
  /** Without a slash at its end. */
  readonly url: string;
  readonly key: string;
}

interface SessionAccess extends GatewayAccess {
  /** Writes a file that goes when the session ends, and returns its path. */
  keep(name: string, text: string): string;
}

/** Start of a program so that it calls the gateway. */
interface Launch {
  /** A null removes a variable that would lead elsewhere. */
  readonly env: Readonly<Record<string, string | null>>;
  /** Arguments that come before the user's own. */
  readonly args?: readonly string[];
}

type Program = (access: SessionAccess) => Launch;

const anthropic = ({ url, key }: GatewayAccess) => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_AUTH_TOKEN: key,
  ANTHROPIC_API_KEY: null,
});
const openai = ({ url, key }: GatewayAccess) => ({
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_BASE: `${url}/v1`,
  OPENAI_API_KEY: key,
});
const gemini = ({ url, key }: GatewayAccess) => ({
  GOOGLE_GEMINI_BASE_URL: url,
  GEMINI_API_KEY: key,
  GOOGLE_API_KEY: null,
});
/** The name under which our guides keep a client's key. */
const own = ({ key }: GatewayAccess) => ({ SWITCHYARD_KEY: key });

const codex: Program = (access) => ({
  env: own(access),
  args: [
    ["model", "auto"],
    ["model_provider", "switchyard"],
    ["model_providers.switchyard.name", "Switchyard"],
    ["model_providers.switchyard.base_url", `${access.url}/v1`],
    ["model_providers.switchyard.env_key", "SWITCHYARD_KEY"],
    ["model_providers.switchyard.wire_api", "responses"],
  ].flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`]),
});

/** With an address of its own, Gemini CLI asks its settings, and no variable, how to sign in. */
const geminiCli: Program = (access) => {
  const settings = { security: { auth: { selectedType: "gemini-api-key" } } };
  const path = access.keep("gemini.json", JSON.stringify(settings));
  return { env: { ...gemini(access), GEMINI_CLI_SYSTEM_SETTINGS_PATH: path } };
};

/** Continue reads no variables for its models. JSON is YAML too. */
const cn: Program = (access) => {
  const model = { name: "Switchyard auto", provider: "openai", model: "auto", apiBase: `${access.url}/v1` };
  const config = { name: "Switchyard", version: "1.0.0", schema: "v1", models: [{ ...model, apiKey: access.key }] };
  return { env: own(access), args: ["--config", access.keep("continue.yaml", JSON.stringify(config))] };
};

const opencode: Program = (access) => {
  const options = { baseURL: `${access.url}/v1`, apiKey: "{env:SWITCHYARD_KEY}" };
  const models = { auto: { name: "Switchyard auto" } };
  const provider = { npm: "@ai-sdk/openai-compatible", name: "Switchyard", options, models };
  const config = { provider: { switchyard: provider }, model: "switchyard/auto" };
  return { env: { ...own(access), OPENCODE_CONFIG_CONTENT: JSON.stringify(config) } };
};

/** By the name of the program. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  claude: (access) => ({ env: anthropic(access) }),
  codex,
  gemini: geminiCli,
  opencode,
  qwen: (access) => ({ env: { ...openai(access), OPENAI_MODEL: "auto" } }),
  aider: (access) => ({ env: { ...openai(access), AIDER_MODEL: "openai/auto" } }),
  cn,
};

export const KNOWN_PROGRAMS = Object.keys(PROGRAMS);

/** Any other program gets the variables that the official clients read. */
export function launchOf(program: string, access: SessionAccess): Launch {
  const name = program.replace(/^.*[\\/]/, "").replace(/\.(?:exe|cmd|mjs|js)$/i, "");
  if (Object.hasOwn(PROGRAMS, name)) return (PROGRAMS[name] as Program)(access);
  return { env: { ...own(access), ...openai(access), ...anthropic(access), ...gemini(access) } };
}
