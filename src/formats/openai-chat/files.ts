// Files that the parts of a chat request name by their id.

import { dataUrlOf, referencesById, typeOf } from "../file-references.ts";
import { isObject } from "../json/fields.ts";

export const chatFileReferences = referencesById({
  field: "messages",
  idOf: ({ type, file }) => (type === "file" && isObject(file) ? file.file_id : null),
  replaced(part, file) {
    const url = dataUrlOf(file);
    if (typeOf(file).startsWith("image/")) return { type: "image_url", image_url: { url } };
    const { file: _named, ...rest } = part;
    return { ...rest, file: { filename: file.name, file_data: url } };
  },
});
