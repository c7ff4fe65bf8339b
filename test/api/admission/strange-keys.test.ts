// Case 23: injection in keys: SQL, NoSQL, LDAP, shells, templates, paths. Every one is a wrong key like any other.

import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { sendRaw } from "../../support/network/raw-http.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: "limits: { wrongKeysPerMinute: 100000 }" });
});
afterAll(() => gateway.stop());

const QUOTES = ["'", '"', "`", "\\'", "%27", "')", '")', "';", '";', "'))"];
const PHRASES = [
  " OR 1=1--",
  " OR '1'='1",
  " UNION SELECT key, hash FROM api_keys--",
  "; DROP TABLE api_keys;--",
  " AND SLEEP(5)--",
  " OR pg_sleep(5)--",
  " OR randomblob(1000000000)--",
  "/**/OR/**/1=1#",
  " OR hash LIKE '%",
  "||(SELECT hash FROM api_keys LIMIT 1)||",
];
const OTHERS = [
  ...['{"$gt":""}', '{"$ne":null}', "[$regex]=.*", '{"$where":"sleep(5000)"}', "*)(uid=*))(|(uid=*", "admin)(&)"],
  ...[
    "$(sleep 5)",
    "`sleep 5`",
    "| cat /etc/passwd",
    "; reboot",
    "&& id",
    `$${"{7*7}"}`,
    "{{7*7}}",
    "<%= 7*7 %>",
    "#{7*7}",
  ],
  ...[
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "file:///etc/passwd",
    "%00",
    "null",
    "undefined",
    "true",
    "[]",
    "{}",
  ],
  ...[
    "<script>alert(1)</script>",

    "\x80\xff",
    "é",
    "%n%n%n%s",
    "__proto__",
    "constructor",
    "toString",
    "*",
    "%",
  ],
];
const TEXTS = [
  ...QUOTES.flatMap((quote) => PHRASES.map((phrase) => `${quote}${phrase}`)),
  ...PHRASES.map((phrase) => `sk-service-${phrase.trim()}`),
  ...OTHERS.flatMap((text) => [text, `sk-service-${text}`]),
];

test(`all of ${TEXTS.length} are the same 401, in either header`, async () => {
  expect(TEXTS.length).toBeGreaterThanOrEqual(170);
  const expected = await refusal("authorization: Bearer sk-service-x", "/v1/models");
  for (const text of TEXTS) {
    expect(await refusal(`authorization: Bearer ${text}`, "/v1/models"), text).toEqual(expected);
    const other = await refusal(`x-api-key: ${text}`, "/v1/messages");
    expect([text, other.status]).toEqual([text, 401]);
  }
  expect(gateway.logged.filter(({ level }) => level === "error")).toEqual([]);
  expect((await gateway.get("/v1/models")).status).toBe(200);
});

async function refusal(header: string, path: string): Promise<{ status: number; message: string }> {
  const method = path === "/v1/messages" ? "POST" : "GET";
  const bytes = Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: x\r\n${header}\r\nconnection: close\r\n\r\n`,
    "latin1",
  );
  const { status, body } = await sendRaw(gateway.url, bytes);
  return { status, message: (JSON.parse(body) as { error: { message: string } }).error.message };
}
