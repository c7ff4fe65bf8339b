// Requests for the text of a recording, and their answers. Text and subtitles count nothing, so the host is asked for a form
// that does, and what the client asked for is written from it.

import { OUTPUT_TOKENS_MAX, type Usage } from "../../core/chat.ts";
import { GatewayError } from "../../core/errors.ts";
import type { HostedModel } from "../../core/model.ts";
import { readField } from "../endpoints/read-response.ts";
import type { ClientRequest, RequestHead, ResponseReading, WholeResponse } from "../format.ts";
import { invalid, type JsonObject, objectsIn, readString } from "../json/fields.ts";
import { parseObject, scanText } from "../json/parse.ts";
import { readFault } from "../openai-chat/errors.ts";
import { unreadable } from "../provider/faults.ts";
import { type JsonSource, rawValue } from "../scan/scan.ts";
import { asked, readFlag } from "./request.ts";
import { lengthOf } from "./sound.ts";
import { checkFiles } from "./upload.ts";
import { millisecondsIn, readMediaUsage, withoutTokens } from "./usage.ts";

/** Tokens of a second of sound, as models that are paid by tokens count them, and the most of any. */
const TOKENS_PER_SECOND = 17;
const TOKENS_PER_SECOND_MAX = 32;
/** Words come at about this rate. */
const OUTPUT_TOKENS_PER_SECOND = 4;
const MS = 1_000;
/** Forms that a host is asked for in place of those that count nothing. */
const ASKED_INSTEAD = new Map([
  ["text", "json"],
  ["srt", "verbose_json"],
  ["vtt", "verbose_json"],
]);
/** Forms without the length of the recording. */
const TEXT_ALONE: readonly string[] = ["json", "text"];

export function readTranscriptionRequest(source: JsonSource, body: JsonObject, head: RequestHead = {}): ClientRequest {
  const { upload } = head;
  if (upload === undefined) throw new GatewayError("wrongMediaType", SEND_FORM);
  checkFiles(upload, ["file"]);
  const [sound, another] = upload.files;
  if (sound === undefined || sound.length === 0) throw invalid("file", NO_FILE);
  if (another !== undefined) throw invalid("file", ONE_FILE);
  readString(body, "response_format");
  const { likely, most } = lengthOf(sound);
  const tokens = (ms: number, perSecond: number): number => Math.ceil((ms / MS) * perSecond);
  const audioInput = tokens(likely, TOKENS_PER_SECOND);
  return asked("transcription", {
    ...{ source, body },
    texts: [readString(body, "prompt") ?? ""],
    isStream: readFlag(body, "stream"),
    choiceCount: 1,
    maxOutputTokens: OUTPUT_TOKENS_MAX,
    fileTokens: { likely: audioInput, most: tokens(most, TOKENS_PER_SECOND_MAX) },
    media: {
      most: { counted: { minute: most } },
      counted: { parts: { minute: likely, audioInput } },
      outputTokens: tokens(likely, OUTPUT_TOKENS_PER_SECOND),
    },
    upload,
  });
}

const SEND_FORM = "Send the recording as a form: 'Content-Type: multipart/form-data'.";
const NO_FILE = "'file' is missing. Send the recording as the part 'file', with a file name.";

const ONE_FILE = "'file' is there more than once. Send one recording for each request.";

/** A model that is paid by the minute is asked for the length: the file tells only what its client wrote into it. */
export function transcriptionAdded({ body, chat }: ClientRequest, { price }: Pick<HostedModel, "price">): JsonObject {
  const form = formOf(body);
  const isTimed = price?.own?.minute !== undefined && !chat.isStream && TEXT_ALONE.includes(form);
  const instead = isTimed ? "verbose_json" : ASKED_INSTEAD.get(form);
  return instead === undefined ? {} : { response_format: instead };
}

function formOf(body: JsonObject): string {
  return String(body.response_format ?? "json");
}

export function readTranscription(bytes: Buffer, { body }: ClientRequest): ResponseReading {
  const source = scanText(bytes);
  if (source === null) return unreadable("the answer is not a JSON object");
  if ((rawValue(source, "error")?.toString() ?? "null") !== "null") {
    return { ok: false, fault: readFault(parseObject(bytes) ?? {}) };
  }
  if (rawValue(source, "text") === null) return unreadable("the answer has no text");
  const usage = transcriptionUsage(source);
  const completion = { text: readField(source, "text"), segments: segmentsIn(source, body) };
  const native = { format: "transcription", source };
  return { ok: true, response: { completion, usage, outputText: "", native, toolCallIds: () => [] } };
}

/** Only subtitles need them. */
function segmentsIn(source: JsonSource, { response_format: form }: JsonObject): readonly JsonObject[] {
  return form === "srt" || form === "vtt" ? objectsIn(readField(source, "segments")) : [];
}

function transcriptionUsage(source: JsonSource): Usage | null {
  const told = readMediaUsage(readField(source, "usage"));
  if (told !== null) return told;
  const ms = millisecondsIn(readField(source, "duration"));
  return ms === null ? null : withoutTokens({ parts: { minute: ms } });
}

/** In the form that the client asked for. */
export function writeTranscription({ completion, native }: WholeResponse, request?: ClientRequest): Buffer {
  const form = formOf(request?.body ?? {});
  const { text, segments } = completion as { readonly text: unknown; readonly segments: readonly JsonObject[] };
  if (form === "text") return Buffer.from(`${String(text)}\n`);
  if (form === "srt") return Buffer.from(segments.map(srtOf).join("\n"));
  if (form === "vtt") return Buffer.from(`WEBVTT\n\n${segments.map(vttOf).join("\n")}`);
  return form === "json" && rawValue(native.source, "duration") !== null
    ? textAlone(native.source)
    : native.source.bytes;
}

/** Leaves out what was not asked for. */
function textAlone(source: JsonSource): Buffer {
  const usage = rawValue(source, "usage");
  return Buffer.from(`{"text":${rawValue(source, "text")}${usage === null ? "" : `,"usage":${usage}`}}`);
}

export function transcriptionType({ body }: ClientRequest): string | null {
  const form = String(body.response_format);
  if (form === "vtt") return "text/vtt; charset=utf-8";
  return form === "text" || form === "srt" ? "text/plain; charset=utf-8" : null;
}

function srtOf({ start, end, text }: JsonObject, index: number): string {
  return `${index + 1}\n${timeOf(start, ",")} --> ${timeOf(end, ",")}\n${String(text).trim()}\n`;
}

function vttOf({ start, end, text }: JsonObject): string {
  return `${timeOf(start, ".")} --> ${timeOf(end, ".")}\n${String(text).trim()}\n`;
}

/** Hours, minutes, seconds and milliseconds. */
function timeOf(seconds: unknown, point: string): string {
  const ms = Math.round(Number(seconds) * MS) || 0;
  const time = new Date(ms % DAY_MS).toISOString().slice(14, -1).replace(".", point);
  return `${String(Math.floor(ms / HOUR_MS)).padStart(2, "0")}:${time}`;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
