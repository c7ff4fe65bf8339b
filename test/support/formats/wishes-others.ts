// Parts and options of clients of Messages and of Gemini.

import { type Cases, MP4, OBJECT, PDF, PNG, turns, WAV } from "./wishes.ts";

const block = (...blocks: object[]) => ({
  messages: [{ role: "user", content: [{ type: "text", text: "Look." }, ...blocks] }],
});
const NONE = { type: "tool_uses", value: 0 };
const CLEAR_ALL = { type: "clear_tool_uses_20250919", trigger: NONE, keep: NONE };
const TOOL = { name: "f", description: "d", input_schema: OBJECT };
const result = (content: unknown, more: object = {}) => ({
  tools: [TOOL],
  ...turns(
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content, ...more }] },
  ),
});

export const MESSAGES: Cases = {
  image: [
    block({ type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }),
    new RegExp(PNG.slice(0, 60)),
  ],
  "image address": [
    block({ type: "image", source: { type: "url", url: "https://img.example/mark.png" } }),
    /img\.example/,
  ],
  "image file": [block({ type: "image", source: { type: "file", file_id: "file-mark" } }), /file-mark/],
  document: [
    block({ type: "document", title: "T", source: { type: "base64", media_type: "application/pdf", data: PDF } }),
    new RegExp(PDF),
  ],
  "document address": [
    block({ type: "document", source: { type: "url", url: "https://doc.example/mark.pdf" } }),
    /doc\.example/,
  ],
  "document text": [
    block({ type: "document", source: { type: "text", media_type: "text/plain", data: "MARKTEXT" } }),
    /MARKTEXT/,
  ],
  "document title": [
    block({
      type: "document",
      title: "MARKTITLE",
      context: "MARKCTX",
      source: { type: "text", media_type: "text/plain", data: "x" },
    }),
    /MARKTITLE[\s\S]*MARKCTX|MARKCTX[\s\S]*MARKTITLE/,
  ],
  "document content": [
    block({ type: "document", source: { type: "content", content: [{ type: "text", text: "MARKTEXT" }] } }),
    /MARKTEXT/,
  ],
  "document file": [block({ type: "document", source: { type: "file", file_id: "file-mark" } }), /file-mark/],
  "search result": [
    block({
      type: "search_result",
      source: "https://s.example/mark",
      title: "T",
      content: [{ type: "text", text: "MARKTEXT" }],
    }),
    /MARKTEXT/,
  ],
  "container upload": [block({ type: "container_upload", file_id: "file-mark" }), /file-mark/],
  "unknown block": [block({ type: "hologram", data: "MARK" }), /MARK/],
  "image of a result": [
    result([{ type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }]),
    new RegExp(PNG.slice(0, 60)),
  ],
  "document of a result": [
    result([{ type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF } }]),
    new RegExp(PDF),
  ],
  "search result of a result": [
    result([
      {
        type: "search_result",
        source: "https://s.example/mark",
        title: "T",
        content: [{ type: "text", text: "MARKTEXT" }],
      },
    ]),
    /MARKTEXT/,
  ],
  "error of a result": [result("MARKFAIL", { is_error: true }), /is_error|[Ee]rror[\s\S]*MARKFAIL/],
  "answer of a server tool": [
    turns(
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "srvtoolu_1", name: "code_execution", input: { code: "1" } },
          {
            type: "code_execution_tool_result",
            tool_use_id: "srvtoolu_1",
            content: { type: "code_execution_result", stdout: "MARKOUT", stderr: "", return_code: 0, content: [] },
          },
        ],
      },
      { role: "user", content: "Go." },
    ),
    /MARKOUT/,
  ],
  temperature: [{ temperature: 0.37 }, /0\.37/],
  top_k: [{ top_k: 37 }, /37/],
  stop_sequences: [{ stop_sequences: ["MARKSTOP"] }, /MARKSTOP/],
  "metadata.user_id": [{ metadata: { user_id: "mark-user" } }, /mark-user|metadata|user/],
  thinking: [{ thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2000 }, /thinking|reasoning|effort/i],
  tool_choice: [{ tools: [TOOL], tool_choice: { type: "any" } }, /required|"any"|ANY/],
  "one tool at a time": [{ tools: [TOOL], tool_choice: { type: "auto", disable_parallel_tool_use: true } }, /parallel/],
  container: [{ container: "container_mark" }, /container_mark/],
  context_management: [{ ...result("MARKOLD"), context_management: { edits: [CLEAR_ALL] } }, /clear_tool_uses/],
  mcp_servers: [{ mcp_servers: [{ type: "url", url: "https://mcp.example/mark", name: "m" }] }, /mcp\.example/],
  "search tool": [{ tools: [TOOL, { type: "web_search_20250305", name: "web_search" }] }, /web_search|googleSearch/],
  "code tool": [
    { tools: [TOOL, { type: "code_execution_20250825", name: "code_execution" }] },
    /code_execution|codeExecution|code_interpreter/,
  ],
  "bash tool": [{ tools: [{ type: "bash_20250124", name: "bash" }] }, /bash/],
  effort: [{ output_config: { effort: "high" } }, /high|budget/i],
  output_format: [
    {
      output_config: {
        format: { type: "json_schema", schema: { type: "object", properties: { markfield: { type: "string" } } } },
      },
    },
    /markfield/,
  ],
  "system blocks": [{ system: [{ type: "text", text: "MARKSYS", cache_control: { type: "ephemeral" } }] }, /MARKSYS/],
};

const parts = (...more: object[]) => ({ contents: [{ role: "user", parts: [{ text: "Look." }, ...more] }] });
const config = (generationConfig: object) => ({ generationConfig });
export const GEMINI: Cases = {
  image: [parts({ inlineData: { mimeType: "image/png", data: PNG } }), new RegExp(PNG.slice(0, 60))],
  sound: [parts({ inlineData: { mimeType: "audio/wav", data: WAV } }), new RegExp(WAV)],
  video: [parts({ inlineData: { mimeType: "video/mp4", data: MP4 } }), new RegExp(MP4)],
  pdf: [parts({ inlineData: { mimeType: "application/pdf", data: PDF } }), new RegExp(PDF)],
  "text file": [
    parts({ inlineData: { mimeType: "text/plain", data: Buffer.from("MARKTEXT").toString("base64") } }),
    new RegExp(`MARKTEXT|${Buffer.from("MARKTEXT").toString("base64")}`),
  ],
  "file address": [
    parts({ fileData: { mimeType: "application/pdf", fileUri: "https://doc.example/mark.pdf" } }),
    /doc\.example/,
  ],
  "video bounds": [
    parts({
      fileData: { fileUri: "https://vid.example/mark", mimeType: "video/mp4" },
      videoMetadata: { startOffset: "37s" },
    }),
    /37s/,
  ],
  code: [
    {
      contents: [
        { role: "user", parts: [{ text: "a" }] },
        {
          role: "model",
          parts: [
            { executableCode: { language: "PYTHON", code: "MARKCODE" } },
            { codeExecutionResult: { outcome: "OUTCOME_OK", output: "MARKOUT" } },
          ],
        },
        { role: "user", parts: [{ text: "b" }] },
      ],
    },
    /MARKCODE[\s\S]*MARKOUT/,
  ],
  "unknown part": [parts({ hologram: { data: "MARK" } }), /MARK/],
  "image of a result": [
    {
      tools: [{ functionDeclarations: [{ name: "f" }] }],
      contents: [
        { role: "user", parts: [{ text: "a" }] },
        { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
        {
          role: "user",
          parts: [
            {
              functionResponse: {
                name: "f",
                response: { a: 1 },
                parts: [{ inlineData: { mimeType: "image/png", data: PNG } }],
              },
            },
          ],
        },
      ],
    },
    new RegExp(PNG.slice(0, 60)),
  ],
  topK: [config({ topK: 37 }), /37/],
  seed: [config({ seed: 8675309 }), /8675309/],
  candidateCount: [config({ candidateCount: 2 }), /"n":2|candidateCount/],
  stopSequences: [config({ stopSequences: ["MARKSTOP"] }), /MARKSTOP/],
  presencePenalty: [config({ presencePenalty: 0.37 }), /0\.37/],
  responseLogprobs: [config({ responseLogprobs: true, logprobs: 3 }), /logprobs/i],
  responseSchema: [
    config({
      responseMimeType: "application/json",
      responseSchema: { type: "OBJECT", properties: { markfield: { type: "STRING" } } },
    }),
    /markfield/,
  ],
  responseModalities: [config({ responseModalities: ["TEXT", "IMAGE"] }), /IMAGE|image/],
  speechConfig: [
    config({ speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "markvoice" } } } }),
    /markvoice/,
  ],
  mediaResolution: [config({ mediaResolution: "MEDIA_RESOLUTION_LOW" }), /MEDIA_RESOLUTION_LOW/],
  thinkingConfig: [
    config({ thinkingConfig: { thinkingBudget: 2048, includeThoughts: true } }),
    /thinking|reasoning|effort/i,
  ],
  safetySettings: [
    { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }] },
    /BLOCK_NONE/,
  ],
  cachedContent: [{ cachedContent: "cachedContents/mark" }, /cachedContents\/mark/],
  labels: [{ labels: { mark: "markvalue" } }, /markvalue/],
  "code tool": [
    { tools: [{ functionDeclarations: [{ name: "f" }] }, { codeExecution: {} }] },
    /codeExecution|code_execution|code_interpreter/,
  ],
  "url tool": [{ tools: [{ functionDeclarations: [{ name: "f" }] }, { urlContext: {} }] }, /urlContext|web_fetch/],
  "maps tool": [{ tools: [{ functionDeclarations: [{ name: "f" }] }, { googleMaps: {} }] }, /googleMaps/],
  "function calling": [
    {
      tools: [{ functionDeclarations: [{ name: "f" }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } },
    },
    /required|"any"|ANY|"name":"f"/,
  ],
  "system instruction": [{ systemInstruction: { parts: [{ text: "MARKSYS" }] } }, /MARKSYS/],
};
