// What the wishes of clients share: small files, a schema, and turns that begin alike.

export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const PDF = "JVBERi0xLjQKJSBtYXJrCg==";
export const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEA";
export const MP4 = "AAAAGGZ0eXBtcDQyAAAAAG1wNDE=";
export const OBJECT = { type: "object", properties: {} };

/**
 * What is added, and what of it shows that it arrived. Left out is what the gateway itself does, such as keeping the
 * metadata of responses, and what models thought, which only their own provider takes back.
 */
export type Cases = Readonly<Record<string, readonly [body: object, mark: RegExp]>>;

export const turns = (...messages: object[]) => ({ messages: [{ role: "user", content: "Look." }, ...messages] });
