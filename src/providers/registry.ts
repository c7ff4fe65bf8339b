// Every configured provider with its transport and the format it speaks. A provider is a row of data; what it speaks is
// looked up here by its kind.

import type { Provider, ProviderKind } from "../core/model.ts";
import { anthropicMessages } from "../formats/anthropic/codec.ts";
import type { ProviderFormat } from "../formats/format.ts";
import { openaiChat } from "../formats/openai-chat/codec.ts";
import { createRedact, type Redact } from "./redact.ts";
import { createSandbox } from "./sandbox.ts";
import type { Transport } from "./transport.ts";
import { createUpstream } from "./upstream.ts";

export interface Line {
  readonly provider: Provider;
  readonly transport: Transport;
  readonly format: ProviderFormat;
  /** Takes the provider's secrets, and what looks like any, out of what it says. */
  readonly redact: Redact;
}

export interface Registry {
  /** The line to a configured provider. Asking for any other is a fault of ours. */
  line(providerId: string): Line;
  /** How many calls are under way, by provider. */
  calls(): readonly { readonly provider: string; readonly count: number }[];
  close(): Promise<void>;
}

const FORMATS: Readonly<Record<ProviderKind, ProviderFormat>> = {
  openai: openaiChat,
  anthropic: anthropicMessages,
  sandbox: openaiChat,
};

export function createRegistry(providers: ReadonlyMap<string, Provider>): Registry {
  const lines = new Map<string, Line>();
  for (const provider of providers.values()) {
    const format = FORMATS[provider.kind];
    const transport = provider.kind === "sandbox" ? createSandbox() : createUpstream(provider);
    lines.set(provider.id, { provider, transport, format, redact: createRedact(provider) });
  }
  return {
    line(providerId) {
      const line = lines.get(providerId);
      if (line === undefined) throw new Error(`provider ${providerId} is not configured`);
      return line;
    },
    calls: () => [...lines].map(([provider, { transport }]) => ({ provider, count: transport.inFlight() })),
    async close() {
      await Promise.all([...lines.values()].map((line) => line.transport.close()));
    },
  };
}
