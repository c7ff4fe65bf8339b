// Parts, items and options of clients of OpenAI's formats.

import { type Cases, OBJECT, PDF, PNG, turns, WAV } from "./wishes.ts";

const say = (...parts: object[]) => ({
  messages: [{ role: "user", content: [{ type: "text", text: "Look." }, ...parts] }],
});
const FUNCTION = { type: "function", function: { name: "f", description: "d", parameters: OBJECT } };
const CALL = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
};

export const CHAT: Cases = {
  image: [say({ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }), new RegExp(PNG.slice(0, 60))],
  "image address": [
    say({ type: "image_url", image_url: { url: "https://img.example/mark.png", detail: "low" } }),
    /img\.example/,
  ],
  sound: [say({ type: "input_audio", input_audio: { data: WAV, format: "wav" } }), new RegExp(WAV)],
  file: [
    say({ type: "file", file: { filename: "mark.pdf", file_data: `data:application/pdf;base64,${PDF}` } }),
    new RegExp(PDF),
  ],
  "file by id": [say({ type: "file", file: { file_id: "file-mark" } }), /file-mark/],
  video: [say({ type: "video_url", video_url: { url: "https://vid.example/mark.mp4" } }), /vid\.example/],
  "unknown part": [say({ type: "hologram", hologram: "MARK" }), /MARK/],
  refusal: [
    turns(
      { role: "assistant", content: [{ type: "refusal", refusal: "MARKED no" }] },
      { role: "user", content: "Go." },
    ),
    /MARKED no/,
  ],
  "refusal field": [
    turns({ role: "assistant", content: null, refusal: "MARKED no" }, { role: "user", content: "Go." }),
    /MARKED no/,
  ],
  "name of a turn": [{ messages: [{ role: "user", name: "markname", content: "Hi" }] }, /markname/],
  "audio of a turn": [
    turns({ role: "assistant", content: "a", audio: { id: "audio_mark" } }, { role: "user", content: "Go." }),
    /audio_mark/,
  ],
  "image of a result": [
    {
      tools: [FUNCTION],
      ...turns(CALL, {
        role: "tool",
        tool_call_id: "c1",
        content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }],
      }),
    },
    new RegExp(PNG.slice(0, 60)),
  ],
  "developer turn in the middle": [
    turns(
      { role: "assistant", content: "a" },
      { role: "developer", content: "MARKDEV" },
      { role: "user", content: "Go." },
    ),
    /MARKDEV/,
  ],
  temperature: [{ temperature: 0.37 }, /0\.37/],
  top_p: [{ top_p: 0.37 }, /0\.37/],
  top_k: [{ top_k: 37 }, /37/],
  frequency_penalty: [{ frequency_penalty: 0.37 }, /0\.37/],
  presence_penalty: [{ presence_penalty: 0.37 }, /0\.37/],
  logit_bias: [{ logit_bias: { 50256: -37 } }, /-37/],
  logprobs: [{ logprobs: true, top_logprobs: 3 }, /logprobs|Logprobs/],
  seed: [{ seed: 8675309 }, /8675309/],
  stop: [{ stop: ["MARKSTOP"] }, /MARKSTOP/],
  n: [{ n: 2 }, /"n":2|candidateCount/],
  user: [{ user: "mark-user" }, /mark-user|user/],
  metadata: [{ metadata: { mark: "markvalue" } }, /markvalue/],
  response_format: [
    {
      response_format: {
        type: "json_schema",
        json_schema: { name: "m", schema: { type: "object", properties: { markfield: { type: "string" } } } },
      },
    },
    /markfield/,
  ],
  json_object: [
    { response_format: { type: "json_object" }, messages: [{ role: "user", content: "json" }] },
    /json_object|application\/json|one valid JSON object/,
  ],
  tool_choice: [{ tools: [FUNCTION], tool_choice: "required" }, /required|"any"|ANY/],
  parallel_tool_calls: [{ tools: [FUNCTION], parallel_tool_calls: false }, /parallel/],
  strict: [{ tools: [{ type: "function", function: { name: "f", parameters: OBJECT, strict: true } }] }, /strict/],
  "custom tool": [{ tools: [{ type: "custom", custom: { name: "marktool", description: "d" } }] }, /marktool/],
  reasoning_effort: [{ reasoning_effort: "high" }, /high|thinking|budget/i],
  verbosity: [{ verbosity: "low" }, /verbosity/],
  prediction: [{ prediction: { type: "content", content: "MARKED" } }, /MARKED/],
  modalities: [{ modalities: ["text", "audio"], audio: { voice: "markvoice", format: "wav" } }, /markvoice/],
  min_p: [{ min_p: 0.37 }, /0\.37/],
  safety_identifier: [{ safety_identifier: "mark-safe" }, /mark-safe/],
  prompt_cache_key: [{ prompt_cache_key: "mark-cache" }, /mark-cache/],
  web_search_options: [{ web_search_options: { search_context_size: "low" } }, /web_search|googleSearch/],
  functions: [{ functions: [{ name: "markfn", parameters: OBJECT }] }, /markfn/],
};

const item = (...items: object[]) => ({ input: [{ role: "user", content: "Look." }, ...items] });
const input = (...parts: object[]) => ({
  input: [{ role: "user", content: [{ type: "input_text", text: "Look." }, ...parts] }],
});
const RTOOL = { type: "function", name: "f", parameters: OBJECT };
const RCALL = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" };

export const RESPONSES: Cases = {
  image: [input({ type: "input_image", image_url: `data:image/png;base64,${PNG}` }), new RegExp(PNG.slice(0, 60))],
  "image by id": [input({ type: "input_image", file_id: "file-mark" }), /file-mark/],
  file: [
    input({ type: "input_file", filename: "m.pdf", file_data: `data:application/pdf;base64,${PDF}` }),
    new RegExp(PDF),
  ],
  "file address": [input({ type: "input_file", file_url: "https://doc.example/mark.pdf" }), /doc\.example/],
  "file by id": [input({ type: "input_file", file_id: "file-mark" }), /file-mark/],
  sound: [input({ type: "input_audio", input_audio: { data: WAV, format: "wav" } }), new RegExp(WAV)],
  "unknown part": [input({ type: "hologram", data: "MARK" }), /MARK/],
  "image of a result": [
    {
      tools: [RTOOL],
      ...item(RCALL, {
        type: "function_call_output",
        call_id: "c1",
        output: [{ type: "input_image", image_url: `data:image/png;base64,${PNG}` }],
      }),
    },
    new RegExp(PNG.slice(0, 60)),
  ],
  "file of a result": [
    {
      tools: [RTOOL],
      ...item(RCALL, {
        type: "function_call_output",
        call_id: "c1",
        output: [{ type: "input_file", filename: "m.pdf", file_data: `data:application/pdf;base64,${PDF}` }],
      }),
    },
    new RegExp(PDF),
  ],
  "web search call": [
    item(
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "MARKQ" } },
      { role: "user", content: "Go." },
    ),
    /MARKQ/,
  ],
  "file search call": [
    item(
      { type: "file_search_call", id: "fs_1", status: "completed", queries: ["MARKQ"], results: null },
      { role: "user", content: "Go." },
    ),
    /MARKQ/,
  ],
  "code call": [
    item(
      {
        type: "code_interpreter_call",
        id: "ci_1",
        container_id: "c",
        status: "completed",
        code: "MARKCODE",
        outputs: [{ type: "logs", logs: "MARKLOG" }],
      },
      { role: "user", content: "Go." },
    ),
    /MARKCODE/,
  ],
  "mcp call": [
    item(
      { type: "mcp_call", id: "mcp_1", server_label: "s", name: "n", arguments: "{}", output: "MARKOUT" },
      { role: "user", content: "Go." },
    ),
    /MARKOUT/,
  ],
  "image call": [
    item(
      { type: "image_generation_call", id: "ig_1", status: "completed", result: PNG },
      { role: "user", content: "Go." },
    ),
    new RegExp(PNG.slice(0, 60)),
  ],
  "unknown item": [item({ type: "hologram_call", id: "h", data: "MARK" }), /MARK/],
  refusal: [
    item(
      { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "MARKED no" }] },
      { role: "user", content: "Go." },
    ),
    /MARKED no/,
  ],
  temperature: [{ temperature: 0.37 }, /0\.37/],
  top_logprobs: [{ top_logprobs: 3, include: ["message.output_text.logprobs"] }, /logprobs|Logprobs/],
  max_tool_calls: [{ max_tool_calls: 37, tools: [RTOOL] }, /37/],
  parallel_tool_calls: [{ tools: [RTOOL], parallel_tool_calls: false }, /parallel/],
  prompt: [{ prompt: { id: "pmpt_mark" } }, /pmpt_mark/],
  safety_identifier: [{ safety_identifier: "mark-safe" }, /mark-safe/],
  "text.verbosity": [{ text: { verbosity: "low" } }, /verbosity/],
  "text.format": [
    {
      text: {
        format: {
          type: "json_schema",
          name: "m",
          schema: { type: "object", properties: { markfield: { type: "string" } } },
        },
      },
    },
    /markfield/,
  ],
  truncation: [{ truncation: "auto" }, /truncation/],
  "custom tool": [{ tools: [{ type: "custom", name: "marktool", description: "d" }] }, /marktool/],
  "custom tool with grammar": [
    { tools: [{ type: "custom", name: "t", format: { type: "grammar", syntax: "lark", definition: "MARKGRAMMAR" } }] },
    /MARKGRAMMAR/,
  ],
  "file search": [{ tools: [RTOOL, { type: "file_search", vector_store_ids: ["vs_mark"] }] }, /vs_mark/],
  "code interpreter": [
    { tools: [RTOOL, { type: "code_interpreter", container: { type: "auto" } }] },
    /code_interpreter|codeExecution|code_execution/,
  ],
  mcp: [{ tools: [RTOOL, { type: "mcp", server_label: "m", server_url: "https://mcp.example/mark" }] }, /mcp\.example/],
  "image generation": [{ tools: [RTOOL, { type: "image_generation" }] }, /image_generation/],
  "reasoning.summary": [{ reasoning: { effort: "high", summary: "detailed" } }, /detailed|includeThoughts|thinking/],
  context_management: [{ context_management: [{ type: "compaction", compact_threshold: 8675309 }] }, /8675309/],
};
