// Files that the parts of a Responses request name by their id.

import { dataUrlOf, referencesById } from "../file-references.ts";

export const responsesFileReferences = referencesById({
  field: "input",
  idOf: ({ type, file_id: id }) => (type === "input_file" || type === "input_image" ? id : null),
  replaced({ file_id: _named, ...part }, file) {
    const url = dataUrlOf(file);
    return part.type === "input_image"
      ? { ...part, image_url: url }
      : { ...part, filename: part.filename ?? file.name, file_data: url };
  },
});
