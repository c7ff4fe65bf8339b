// A wire format that nobody speaks: every field, event and error has a name of its own. It proves that a format is one
// folder and one row of the registry.

import type { WireExtension } from "../../../../src/app/app.ts";
import type { ProviderKind } from "../../../../src/core/model.ts";
import type { Format } from "../../../../src/formats/format.ts";
import { isObject, type JsonObject } from "../../../../src/formats/json/fields.ts";
import { parseObject } from "../../../../src/formats/json/parse.ts";
import { TELEGRAM_PATHS } from "./paths.ts";
import { mayLeaveOut, passTelegram, readTelegram, TELEGRAM, telegramToChat, writeTelegram } from "./requests.ts";
import {
  passTelegramResponse,
  readTelegramResponse,
  readTrouble,
  writeTelegramResponse,
  writeTrouble,
} from "./responses.ts";
import { createTelegramReader, createTelegramWriter, passTelegramStream } from "./streams.ts";

const telegram: Format = {
  name: TELEGRAM,
  idempotencyScope: TELEGRAM,
  outputCapField: "word_limit",
  paths: TELEGRAM_PATHS,
  habits: {
    keyHeader: "x-telegraph-key",
    requestIdHeader: "telegram-number",
    isSentBy: (headers) => headers["x-telegraph-key"] !== undefined,
  },
  readRequest: readTelegram,
  toChat: telegramToChat,
  mayCacheLong: () => false,
  writeResponse: writeTelegramResponse,
  passResponse: passTelegramResponse,
  streamWriter: createTelegramWriter,
  passStream: passTelegramStream,
  writeError: writeTrouble,
  models: {
    list: (models) => ({ stations: models.map(({ id }) => id) }),
    one: ({ id, context }) => ({ station: id, words_max: context }),
  },
  counting: {
    readRequest: (body) => readTelegram({ bytes: Buffer.alloc(0), fields: [], values: 0 }, body).chat,
    writeCount: (inputTokens) => ({ words: inputTokens }),
  },
  withPrompt: (given, { prompt }) => ({ ...given, lines: given.lines ?? [{ from: "sender", words: prompt }] }),
  passRequest: passTelegram,
  writeRequest: writeTelegram,
  mayLeaveOut,
  readResponse: readTelegramResponse,
  streamReader: createTelegramReader,
  readError: readTrouble,
  rateLimitHeaders: [{ remaining: "telegraph-left", reset: "telegraph-again" }],
  listing: {
    request: () => ({ path: "/stations", headers: {} }),
    read: (bytes) => stationsOf(parseObject(bytes)),
  },
};

function stationsOf(body: JsonObject | null) {
  if (body === null || !Array.isArray(body.stations)) return null;
  return body.stations.filter(isObject).map(({ name }) => ({ id: String(name), aliases: [], price: null }));
}

/** The row of the registry. */
export const TELEGRAM_WIRE: WireExtension = { formats: [telegram] };

/** The row of the table of provider kinds. */
export const TELEGRAPH: ProviderKind = {
  kind: "telegraph",
  label: "Telegraph",
  format: TELEGRAM,
  auth: { scheme: "header", name: "x-operator-key" },
  framing: "sse",
  transport: "network",
};
