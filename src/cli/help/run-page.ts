// The help page of `switchyard run`.

import type { HelpPage } from "./layout.ts";

export const RUN_PAGE: HelpPage = {
  summary: "Start Claude Code, Codex or another program through a gateway: run claude",
  about:
    "starts a program with its traffic through a gateway, for this session only, and says at the end what it cost.",
  examples: [
    "OPENAI_API_KEY=… switchyard run claude",
    'switchyard run codex exec "Explain this repository"',
    "switchyard run --url https://gateway.example.com gemini",
    "switchyard run python my_agent.py",
  ],
  tables: [
    ["Flags", [["--url URL", "A gateway elsewhere, with the key in SWITCHYARD_KEY or the token of switchyard login"]]],
  ],
  notes: [
    "It uses the gateway that runs on this machine. Where none does, it starts one for the session, with data in ~/.local/share/switchyard unless this folder or the configuration names a place. Such a gateway refuses nothing for lack of credits: your provider bills you.",
    "claude, codex, gemini, opencode, qwen and aider get their own settings. Any other program gets the variables that the official clients of OpenAI, Anthropic and Google read. No file of the program is changed.",
    "Flags of run come before the program's name. Everything behind it is the program's.",
    "The exit code is the program's own.",
  ],
};
