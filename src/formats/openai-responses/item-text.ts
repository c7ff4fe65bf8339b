// The output items of a response as JSON text, the same in a whole response and at the end of a stream.

import type { ResponseContext } from "../format.ts";
import { clientToolId } from "../tools/calls.ts";
import { chatToolName } from "./items.ts";
import { type CallableTool, readGivenTools } from "./to-chat/tools.ts";

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** A tool as the client knows it. */
type CalledTool = Pick<CallableTool, "type" | "name" | "namespace">;

/** Facts of a call that are known before its arguments. */
export interface CallHead {
  readonly id: string;
  readonly callId: string;
  readonly tool: CalledTool;
}

/** Text as JSON; a refusal is a part of another type. */
export function textPart(kind: "message" | "refusal", text: string, logprobs: readonly unknown[]): string {
  return kind === "message"
    ? `{"type":"output_text","annotations":[],"logprobs":${JSON.stringify(logprobs)},"text":${text}}`
    : `{"type":"refusal","refusal":${text}}`;
}

export function messageItem(id: string, status: ItemStatus, parts: string): string {
  return `{"id":"${id}","type":"message","status":"${status}","role":"assistant","content":[${parts}]}`;
}

export function summaryPart(text: string): string {
  return `{"type":"summary_text","text":${text}}`;
}

/** `seal`: what brings a signed or encrypted thought back; null where there is none or nobody asked for it. */
export function reasoningItem(id: string, summary: string, seal: string | null): string {
  const encrypted = seal === null ? "" : `,"encrypted_content":${JSON.stringify(seal)}`;
  return `{"id":"${id}","type":"reasoning","summary":[${summary}]${encrypted}}`;
}

/** `text`: the arguments or the input, as JSON text. */
export function callItem({ id, callId, tool }: CallHead, status: ItemStatus, text: string): string {
  const namespace = tool.namespace === null ? "" : `,"namespace":${JSON.stringify(tool.namespace)}`;
  const [type, field] = tool.type === "custom" ? ["custom_tool_call", "input"] : ["function_call", "arguments"];
  const names = `"call_id":${JSON.stringify(callId)},"name":${JSON.stringify(tool.name)}${namespace}`;
  return `{"id":"${id}","type":"${type}","status":"${status}",${names},"${field}":${text}}`;
}

/** The client's view of a call: its id, and the tool behind the name that the provider used. */
export interface CallNaming {
  idOf(id: string, index: number): string;
  toolOf(chatName: string): CalledTool;
}

export function callNaming(context: ResponseContext): CallNaming {
  let tools: ReadonlyMap<string, CallableTool> | null = null;
  return {
    idOf: (id, index) => clientToolId(id, index, context),
    toolOf(chatName) {
      tools ??= new Map(readGivenTools(context.request?.body ?? {}).callable.map((tool) => [tool.chatName, tool]));
      // A model may call what it was not given; the client will say so.
      return tools.get(chatToolName(chatName, null)) ?? { type: "function", name: chatName, namespace: null };
    },
  };
}
