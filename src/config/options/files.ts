// Options of files that clients upload, and of batches.

import { number } from "../readers.ts";
import { option } from "./option.ts";

const GIBIBYTE = 1024 ** 3;

/** Section `files` of the settings. */
export const FILE_STORE_OPTIONS = {
  filesRetentionDays: option<number>({
    path: "files.retentionDays",
    env: "SWITCHYARD_FILES_RETENTION_DAYS",
    default: 30,
    read: number({ min: 1, max: 3650, isWhole: true }),
    help: "How long uploaded files are kept, unless their client names an earlier end.",
  }),
  filesBytesPerAccount: option<number>({
    path: "files.bytesPerAccount",
    env: "SWITCHYARD_FILES_BYTES_PER_ACCOUNT",
    default: GIBIBYTE,
    read: number({ min: 0, max: 1024 * GIBIBYTE, isWhole: true }),
    help: "How many bytes of files one account may have. Uploads beyond it get 400. With 0, none are taken.",
  }),
  filesPerAccount: option<number>({
    path: "files.perAccount",
    env: "SWITCHYARD_FILES_PER_ACCOUNT",
    default: 10_000,
    read: number({ min: 1, max: 1_000_000, isWhole: true }),
    help: "How many files one account may have.",
  }),
  batchConcurrency: option<number>({
    path: "batches.concurrency",
    env: "SWITCHYARD_BATCH_CONCURRENCY",
    default: 4,
    read: number({ min: 0, max: 1_000, isWhole: true }),
    help: "How many lines of batches a process runs at once, behind live requests. With 0, it runs none.",
  }),
  batchBytesPerAccount: option<number>({
    path: "batches.bytesPerAccount",
    env: "SWITCHYARD_BATCH_BYTES_PER_ACCOUNT",
    default: GIBIBYTE,
    read: number({ min: 1024, max: 1024 * GIBIBYTE, isWhole: true }),
    help: "How many bytes of requests the batches of one account may have stored. A batch beyond it gets 400. Requests that have run do not count.",
  }),
  batchNativeFrom: option<number>({
    path: "batches.nativeFrom",
    env: "SWITCHYARD_BATCH_NATIVE_FROM",
    default: 100,
    read: number({ min: 0, max: 50_000, isWhole: true }),
    help: "From how many lines on a batch is sent to hosts that run batches at a lower price. With 0, none is.",
  }),
};
