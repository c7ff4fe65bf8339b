// Programs that `switchyard run` starts: the variables and arguments by which each calls the gateway. Nothing is written
// to a file of theirs.

interface GatewayAccess {
  /** Without a slash at its end. */
  readonly url: string;
  readonly key: string;
}

/** Start of a program so that it calls the gateway. */
interface Launch {
  /** A null removes a variable that would lead elsewhere. */
  readonly env: Readonly<Record<string, string | null>>;
  /** Arguments that come before the user's own. */
  readonly args?: readonly string[];
}

type Program = (access: GatewayAccess) => Launch;

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
  GEMINI_DEFAULT_AUTH_TYPE: "gemini-api-key",
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
  gemini: (access) => ({ env: gemini(access) }),
  opencode,
  qwen: (access) => ({ env: { ...openai(access), OPENAI_MODEL: "auto" } }),
  aider: (access) => ({ env: { ...openai(access), AIDER_MODEL: "openai/auto" } }),
};

export const KNOWN_PROGRAMS = Object.keys(PROGRAMS);

/** Any other program gets the variables that the official clients read. */
export function launchOf(program: string, access: GatewayAccess): Launch {
  const name = program.replace(/^.*[\\/]/, "").replace(/\.(?:exe|cmd|mjs|js)$/i, "");
  if (Object.hasOwn(PROGRAMS, name)) return (PROGRAMS[name] as Program)(access);
  return { env: { ...own(access), ...openai(access), ...anthropic(access), ...gemini(access) } };
}
