// A long upload passes through the gateway without being held in memory.

import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { startGateway } from "../../support/gateway/gateway.ts";

const MB = 1024 * 1024;
const UPLOAD_BYTES = 64 * MB;
/** Other test files of this process take some as well. */
const MEMORY_MAX = 40 * MB;
const LOOK_EVERY = 8 * MB;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("64 MB take less than 40", async () => {
  let peak = 0;
  const look = (): void => {
    collect();
    peak = Math.max(peak, process.memoryUsage().arrayBuffers);
  };
  let arrived = 0;
  const provider = createServer((incoming, response) => {
    incoming.on("data", (piece: Buffer) => {
      const before = Math.floor(arrived / LOOK_EVERY);
      arrived += piece.length;
      if (Math.floor(arrived / LOOK_EVERY) > before) look();
    });
    incoming.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ text: "heard", duration: 1 }));
    });
  });
  await new Promise<void>((done) => provider.listen(0, "127.0.0.1", done));
  const { port } = provider.address() as AddressInfo;
  const yaml = [
    "catalog: none",
    `providers: { lab: { kind: openai, baseUrl: "http://127.0.0.1:${port}/v1", apiKey: lab-secret } }`,
    "models:",
    "  - { id: alpha, provider: lab, price: { input: 1, output: 4 }, context: 128000 }",
    "  - { id: clock, provider: lab, price: { input: 0, output: 0, minute: 0.000001 }, context: 8192, capabilities: [transcription] }",
    "tiers: { NANO: [alpha], SIMPLE: [alpha], LIGHT: [alpha], STANDARD: [alpha], COMPLEX: [alpha] }",
    "routing: { baseline: alpha }",
  ].join("\n");
  const gateway = await startGateway({ yaml });
  try {
    look();
    const before = peak;
    const head = [
      '--b\r\nContent-Disposition: form-data; name="file"; filename="long.ogg"\r\n\r\n',
      '\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nclock\r\n--b--\r\n',
    ] as const;
    const { url, key } = gateway;
    const status = new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        ...{ authorization: `Bearer ${key}`, "content-type": "multipart/form-data; boundary=b" },
        "content-length": head[0].length + UPLOAD_BYTES + head[1].length,
      };
      const request = httpRequest(`${url}/v1/audio/transcriptions`, { method: "POST", agent: false, headers });
      request.on("error", reject).on("response", (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      });
      const piece = Buffer.alloc(64 * 1024, 7);
      let sent = 0;
      const write = (): void => {
        while (sent < UPLOAD_BYTES) {
          sent += piece.length;
          if (sent % LOOK_EVERY === 0) look();
          if (!request.write(piece)) return void request.once("drain", write);
        }
        request.end(head[1]);
      };
      request.write(head[0]);
      write();
    });
    expect([await status, arrived > UPLOAD_BYTES]).toEqual([200, true]);
    expect(peak - before).toBeLessThan(MEMORY_MAX);
  } finally {
    await gateway.stop();
    await new Promise<void>((done) => provider.close(() => done()));
  }
});
