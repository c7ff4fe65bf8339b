// The services behind files and batches. `app/batches.ts` builds them once.

import type { BatchQueue, BatchStore, NativeQueue } from "../../core/batches/batches.ts";
import type { FileRoom, FileStore } from "../../core/batches/files.ts";
import type { UploadStore } from "../../core/batches/uploads.ts";

export interface BatchServices {
  readonly files: FileStore;
  readonly uploads: UploadStore;
  readonly room: FileRoom;
  readonly retentionDays: number;
  readonly store: BatchStore;
  readonly queue: BatchQueue;
  readonly native: NativeQueue;
  /** Lines from which a batch is sent to hosts; 0 for none. */
  readonly nativeFrom: number;
  /** Lines that this process may run at once; 0 for none. */
  readonly concurrency: number;
  /** Bytes of requests that the batches of an account may have stored. */
  readonly bytesPerAccount: number;
}
