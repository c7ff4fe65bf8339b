// The one internal shape of a chat request: chat-completions, with what the gateway reads given types.
// Everything else a client sent stays in the original bytes and travels untouched.

export const ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;

export type Role = (typeof ROLES)[number];

export interface ContentPart {
  readonly type: string;
  readonly text?: string;
  readonly [field: string]: unknown;
}

export interface ToolCall {
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

export interface ChatMessage {
  readonly role: Role;
  readonly content?: string | readonly ContentPart[] | null;
  readonly name?: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

/** A tool a model may call; a deprecated `functions` entry has the same inner shape. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>> | null;
}

/** What routing, filtering and pricing need to know of a request. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  readonly toolChoice: unknown;
  readonly isStream: boolean;
  readonly wantsUsage: boolean;
  /** The larger of the two output caps a client may send; null when it sent none. */
  readonly maxOutputTokens: number | null;
  readonly choiceCount: number;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly [field: string]: unknown;
}

/** The text of a message's content: strings as they are, text parts joined by a line break. */
export function contentText(content: ChatMessage["content"]): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts: string[] = [];
  for (const part of content as readonly ContentPart[]) {
    if (typeof part.text === "string") texts.push(part.text);
  }
  return texts.join("\n");
}

export function hasImages(messages: readonly ChatMessage[]): boolean {
  return messages.some(
    (message) =>
      Array.isArray(message.content) && message.content.some((part: ContentPart) => part.type === "image_url"),
  );
}
