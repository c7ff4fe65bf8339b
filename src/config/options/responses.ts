// Options of stored responses and conversations: how long and how much is kept.

import { number } from "../readers.ts";
import { option } from "./option.ts";

const MEBIBYTE = 1024 * 1024;
const bytes = number({ min: MEBIBYTE, max: 1024 ** 4, isWhole: true });

/** Section `responses` of the settings. */
export const RESPONSES_OPTIONS = {
  responsesRetentionDays: option<number>({
    path: "responses.retentionDays",
    isLive: true,
    env: "SWITCHYARD_RESPONSES_RETENTION_DAYS",
    default: 30,
    read: number({ min: 1, max: 3650, isWhole: true }),
    help: "How long stored responses are kept, and conversations after their last use.",
  }),
  responsesBytesPerAccount: option<number>({
    path: "responses.bytesPerAccount",
    isLive: true,
    env: "SWITCHYARD_RESPONSES_BYTES_PER_ACCOUNT",
    default: 1024 * MEBIBYTE,
    read: bytes,
    help: "How many bytes of stored responses and conversations one account may have. Beyond it the oldest are deleted.",
  }),
  conversationBytes: option<number>({
    path: "responses.conversationBytes",
    isLive: true,
    env: "SWITCHYARD_CONVERSATION_BYTES",
    default: 16 * MEBIBYTE,
    read: bytes,
    help: "How many bytes a continued conversation may have; longer ones get 400 and can be compacted.",
  }),
};
