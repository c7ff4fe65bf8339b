// Files that the blocks of a Messages request name by their id.

import { referencesById, typeOf } from "../file-references.ts";
import { isObject } from "../json/fields.ts";

const DOCUMENTS: ReadonlySet<unknown> = new Set(["document", "image"]);

export const anthropicFileReferences = referencesById({
  field: "messages",
  idOf: ({ type, source }) =>
    DOCUMENTS.has(type) && isObject(source) && source.type === "file" ? source.file_id : null,
  replaced(block, file) {
    const type = typeOf(file);
    const data = file.base64;
    if (block.type !== "document" || !type.startsWith("text/"))
      return { ...block, source: { type: "base64", media_type: type, data } };
    const text = Buffer.from(data, "base64").toString("utf8");
    return { ...block, source: { type: "text", media_type: "text/plain", data: text } };
  },
});
