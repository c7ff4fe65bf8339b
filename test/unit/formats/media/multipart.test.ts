// Forms: what a client writes into one is read in one way only, and a provider cannot read it in another.

import { describe, expect, it } from "vitest";
import { scanText } from "../../../../src/formats/json/parse.ts";
import { readEditRequest } from "../../../../src/formats/media/images.ts";
import { boundaryOf, FormReader, type PartHead } from "../../../../src/formats/media/multipart.ts";
import { readTranscriptionRequest } from "../../../../src/formats/media/transcription.ts";
import { FormBody, type Upload, type UploadedFile } from "../../../../src/formats/media/upload.ts";

interface Part extends PartHead {
  text: string;
}

/** Read in pieces of this length. */
function partsOf(form: string, boundary = "b", pieceBytes = 1_000): readonly Part[] {
  const parts: Part[] = [];
  const reader = new FormReader(boundary, {
    part: (head) => void parts.push({ ...head, text: "" }),
    bytes(piece) {
      (parts.at(-1) as Part).text += piece.toString();
    },
  });
  const bytes = Buffer.from(form);
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.push(bytes.subarray(at, at + pieceBytes));
  reader.end();
  return parts;
}

const headOf = (rest: string): string => `--b\r\nContent-Disposition: form-data; ${rest}\r\n`;
const formOf = (rest: string, text = "x"): string => `${headOf(rest)}\r\n${text}\r\n--b--\r\n`;

function fileNamed(name: string, text = "sound"): UploadedFile {
  const start = Buffer.from(text);
  const read = async function* () {
    yield start;
  };
  return { name, fileName: "a.wav", type: "audio/wav", length: start.length, start, read };
}

describe("boundaries", () => {
  it.each([
    ["multipart/form-data; boundary=--a.B'()+_,/:=?9", "--a.B'()+_,/:=?9"],
    ['multipart/form-data; boundary="a:b"; charset=utf-8', "a:b"],
    ['multipart/form-data; boundary="a\\"b"', null],
    ['multipart/form-data; boundary="a\\\\b"', null],
    ["multipart/form-data; boundary=a\u00e9b", null],
    ["multipart/form-data; boundary=a b", null],
    [`multipart/form-data; boundary=${"a".repeat(71)}`, null],
  ])("%s", (type, boundary) => expect(boundaryOf(type)).toBe(boundary));

  it("are new for every form that is sent", async () => {
    const upload: Upload = {
      fields: [["prompt", '--b\r\nContent-Disposition: form-data; name="n"\r\n\r\n9']],
      files: [],
    };
    const [one, other] = [new FormBody(upload), new FormBody(upload)];
    expect(one.contentType).not.toBe(other.contentType);
    const pieces: Buffer[] = [];
    for await (const piece of one) pieces.push(piece);
    const sent = partsOf(Buffer.concat(pieces).toString(), boundaryOf(one.contentType) as string);
    expect(sent.map(({ name, text }) => [name, text])).toEqual(upload.fields);
  });
});

describe("parts", () => {
  it.each([1, 2, 3, 1_000])("end right after their head, in pieces of %i bytes", (pieceBytes) => {
    const form = `${headOf('name="model"')}\r\n${headOf('name="n"')}\r\n\r\n${formOf('name="a"', "\r\n--x")}`;
    expect(partsOf(form, "b", pieceBytes).map(({ name, text }) => [name, text])).toEqual([
      ["model", ""],
      ["n", ""],
      ["a", "\r\n--x"],
    ]);
  });

  it.each([
    ['name="n"; filename=""', null],
    ['name="n"; filename="\\""', null],
    ['name="n"; filename="a\\\\\\"b\n.wav"', "ab.wav"],
    ['name="n"; filename="Äther.wav"', "Äther.wav"],
  ])("%j", (rest, fileName) => expect(partsOf(formOf(rest))[0]?.fileName).toBe(fileName));

  it.each(['name="n\u0000"', 'name="n\n"', 'name="n\\\\"', 'name="n\\""'])("are refused with %j", (rest) => {
    expect(() => partsOf(formOf(rest))).toThrow("The name of a part");
  });

  it.each(["audio/wav;\rX: 1", "audio/wav;\nX: 1", "audio/wav\nX: 1"])("have no such type: %j", (type) => {
    expect(partsOf(formOf(`name="a"; filename="a"\r\nContent-Type: ${type}`))[0]?.type).toBe(
      "application/octet-stream",
    );
  });
});

describe("files", () => {
  const none = scanText(Buffer.from("{}"))!;
  it.each<[string, Partial<Upload>, string]>([
    ["under another name", { files: [fileNamed("file"), fileNamed("model")] }, "No file is taken as 'model'"],
    ["twice", { files: [fileNamed("file"), fileNamed("file")] }, "more than once"],
    ["as a field, too", { fields: [["file", "x"]], files: [fileNamed("file")] }, "must be a file"],
  ])("of a transcription %s", (_name, upload, message) => {
    const given = { upload: { fields: [], files: [], ...upload } };
    expect(() => readTranscriptionRequest(none, {}, given)).toThrow(message);
  });

  it.each([
    [["image[]", "image[]", "mask"], null],
    [["image", "n"], "No file is taken as 'n'"],
    [["image", "quality"], "No file is taken as 'quality'"],
  ])("of an edit: %j", (names, message) => {
    const upload = { fields: [], files: names.map((name) => fileNamed(name)) };
    const read = () => readEditRequest(none, { prompt: "a cat" }, { upload });
    if (message === null) expect(read).not.toThrow();
    else expect(read).toThrow(message);
  });
});
