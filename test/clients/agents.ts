// Coding agents as their makers ship them: how each is pointed at a gateway, given a task, and what its tools are called.
// Only address, key and model name are set, and what would send traffic elsewhere is switched off.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestGateway } from "../support/gateway/gateway.ts";

/** Where one run of an agent takes place. */
interface Place {
  readonly gateway: Pick<TestGateway, "url" | "key">;
  /** Its home folder, empty at first. */
  readonly home: string;
  /** The folder it works in. */
  readonly work: string;
}

/** One step of a session: a tool of the agent and its arguments. */
interface Step {
  readonly tool: string;
  readonly input: object;
}

export interface Agent {
  readonly name: string;
  /** The package it is installed from. */
  readonly package: string;
  readonly program: string;
  /** Writes its settings, and says how to start it on a task. */
  prepare(place: Place, task: string): { readonly args: readonly string[]; readonly env: Record<string, string> };
  /** Reads `file`, then changes `before` into `after` in it, with the tools that the agent offers. */
  steps(edit: Edit, tools: readonly string[]): readonly Step[];
}

export interface Edit {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

const claudeCode: Agent = {
  name: "Claude Code",
  package: "@anthropic-ai/claude-code",
  program: "claude",
  prepare: ({ gateway }, task) => ({
    args: ["-p", task, "--allowedTools", "Read,Edit"],
    env: {
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_AUTH_TOKEN: gateway.key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  }),
  steps: ({ file, before, after }) => [
    { tool: "Read", input: { file_path: file } },
    { tool: "Edit", input: { file_path: file, old_string: before, new_string: after } },
  ],
};

/** In its mode for a cloud, with the address of the gateway in place of the cloud's. */
const claudeCodeForBedrock: Agent = {
  ...claudeCode,
  name: "Claude Code for Bedrock",
  prepare: ({ gateway }, task) => ({
    args: ["-p", task, "--allowedTools", "Read,Edit"],
    env: {
      CLAUDE_CODE_USE_BEDROCK: "1",
      AWS_REGION: "us-east-1",
      ANTHROPIC_BEDROCK_BASE_URL: gateway.url,
      AWS_BEARER_TOKEN_BEDROCK: gateway.key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  }),
};

const claudeCodeForVertex: Agent = {
  ...claudeCode,
  name: "Claude Code for Vertex AI",
  prepare: ({ gateway }, task) => ({
    args: ["-p", task, "--allowedTools", "Read,Edit"],
    env: {
      CLAUDE_CODE_USE_VERTEX: "1",
      CLAUDE_CODE_SKIP_VERTEX_AUTH: "1",
      CLOUD_ML_REGION: "global",
      ANTHROPIC_VERTEX_PROJECT_ID: "any",
      ANTHROPIC_VERTEX_BASE_URL: `${gateway.url}/v1`,
      ANTHROPIC_CUSTOM_HEADERS: `Authorization: Bearer ${gateway.key}`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  }),
};

const opencode: Agent = {
  name: "opencode",
  package: "opencode-ai",
  program: "opencode",
  prepare({ gateway, home }, task) {
    const options = { baseURL: `${gateway.url}/v1`, apiKey: gateway.key };
    const provider = { npm: "@ai-sdk/openai-compatible", name: "Switchyard", options, models: { auto: {} } };
    const settings = {
      provider: { switchyard: provider },
      model: "switchyard/auto",
      permission: "allow",
      autoupdate: false,
    };
    writeFileSync(join(home, "opencode.json"), JSON.stringify(settings));
    return {
      args: ["run", "-m", "switchyard/auto", task],
      env: { OPENCODE_CONFIG: join(home, "opencode.json"), OPENCODE_DISABLE_MODELS_FETCH: "1" },
    };
  },
  steps: ({ file, before, after }) => [
    { tool: "read", input: { filePath: file } },
    { tool: "edit", input: { filePath: file, oldString: before, newString: after } },
  ],
};

const codex: Agent = {
  name: "Codex",
  package: "@openai/codex",
  program: "codex",
  prepare({ gateway, home }, task) {
    mkdirSync(join(home, ".codex"), { recursive: true });
    const settings = [
      'model = "auto"',
      'model_provider = "switchyard"',
      "check_for_update_on_startup = false",
      "[analytics]",
      "enabled = false",
      "[model_providers.switchyard]",
      'name = "Switchyard"',
      `base_url = "${gateway.url}/v1"`,
      'env_key = "SWITCHYARD_KEY"',
      'wire_api = "responses"',
    ];
    writeFileSync(join(home, ".codex", "config.toml"), `${settings.join("\n")}\n`);
    return {
      args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task],
      env: { SWITCHYARD_KEY: gateway.key },
    };
  },
  steps({ file, before, after }, tools) {
    const shell = tools.find((tool) => ["exec_command", "shell_command", "shell"].includes(tool)) ?? "exec_command";
    const run = (command: string): Step => ({
      tool: shell,
      input:
        shell === "exec_command" ? { cmd: command } : { command: shell === "shell" ? ["sh", "-c", command] : command },
    });
    return [run(`cat '${file}'`), run(`sed -i 's/${before}/${after}/' '${file}'`)];
  },
};

const gemini: Agent = {
  name: "Gemini CLI",
  package: "@google/gemini-cli",
  program: "gemini",
  prepare({ gateway, home }, task) {
    mkdirSync(join(home, ".gemini"), { recursive: true });
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    };
    writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
    return {
      args: ["-m", "auto", "--yolo", "-p", task],
      env: { GEMINI_API_KEY: gateway.key, GOOGLE_GEMINI_BASE_URL: gateway.url },
    };
  },
  steps: ({ file, before, after }) => [
    { tool: "read_file", input: { file_path: file } },
    {
      tool: "replace",
      input: { file_path: file, instruction: "Change the colour.", old_string: before, new_string: after },
    },
  ],
};

export const AGENTS: readonly Agent[] = [
  ...[claudeCode, claudeCodeForBedrock, claudeCodeForVertex],
  ...[opencode, codex, gemini],
];
