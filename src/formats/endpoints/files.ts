// Files and uploads as OpenAI's clients read them.

import type { StoredFile } from "../../core/batches/files.ts";
import type { StoredUpload } from "../../core/batches/uploads.ts";

export function writeFile({ id, bytes, createdAtMs, expiresAtMs, name, purpose }: StoredFile) {
  return {
    id,
    object: "file",
    bytes,
    created_at: Math.floor(createdAtMs / 1000),
    expires_at: Math.floor(expiresAtMs / 1000),
    filename: name,
    purpose,
    status: "processed",
  };
}

/** `found` has one more than the page where there are more. */
export function writeFileList(found: readonly StoredFile[], limit: number) {
  const data = found.slice(0, limit).map(writeFile);
  const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return { object: "list", data, first_id: first, last_id: last, has_more: found.length > limit };
}

export function writeUpload({ id, status, file, createdAtMs, expiresAtMs }: StoredUpload) {
  const { bytes, name, purpose } = file;
  return {
    id,
    object: "upload",
    bytes,
    created_at: Math.floor(createdAtMs / 1000),
    expires_at: Math.floor(expiresAtMs / 1000),
    filename: name,
    purpose,
    status: status === "completing" ? "pending" : status,
    file: status === "completed" ? writeFile(file) : null,
  };
}
