// Mails over SMTP: TLS in both ways, both ways to sign in, and servers that refuse, hang or are none.

import { expect, it, onTestFinished } from "vitest";
import { type Mail, sendMail } from "../../../src/alerting/smtp.ts";
import { guardedLookup } from "../../../src/providers/lookup.ts";
import { certificate } from "../../support/network/certificate.ts";
import { type MailServerOptions, startMailServer } from "../../support/network/mail-server.ts";

const CERTIFICATE = certificate("localhost");
const MAIL: Mail = {
  ...{ id: "msg_1", to: "ops@example.com", subject: "[warning] Balance low", text: "Söhne: 0.42 USD\n.\nend\n" },
  atMs: Date.UTC(2026, 10, 19, 12),
};
const USER = { user: "mailer", password: "pässword" };

interface Terms {
  readonly isTls?: boolean;
  readonly allowsPlain?: boolean;
  readonly user?: string | null;
  readonly password?: string | null;
  readonly timeoutMs?: number;
  readonly isTrusted?: boolean;
  readonly mail?: Partial<Mail>;
}

async function send(options: MailServerOptions, terms: Terms = {}) {
  const server = await startMailServer({ certificate: CERTIFICATE, ...options });
  onTestFinished(() => server.stop());
  const { isTls = false, allowsPlain = true, user = null, password = null } = terms;
  const { timeoutMs = 10_000, isTrusted = true, mail } = terms;
  const receipt = await sendMail(
    { ...MAIL, ...mail },
    {
      server: {
        ...{ host: "localhost", port: server.port, from: "gateway@example.com" },
        isTls,
        allowsPlain,
        user,
        password,
      },
      ...{ lookup: guardedLookup(true), timeoutMs },
      ...(isTrusted && { ca: CERTIFICATE.cert }),
    },
  );
  return { receipt, ...server };
}

/** The text of a mail, and its headers by name. */
function read(data: string) {
  const [head = "", body = ""] = data.split("\r\n\r\n");
  const fields = head.replaceAll("\r\n ", " ").split("\r\n");
  const headers = Object.fromEntries(fields.map((line) => line.split(/: (.*)/).slice(0, 2)));
  return { headers, text: Buffer.from(body, "base64").toString("utf8") };
}

it("sends a mail in plain text to a server that asks for nothing", async () => {
  const { receipt, mails } = await send({});
  expect(receipt).toEqual({ isTaken: true, isFinal: false, status: 250, answer: "queued as 1234" });
  const [mail] = mails;
  expect(mail).toMatchObject({ from: "gateway@example.com", to: "ops@example.com", isSecure: false });
  const { headers, text } = read(mail?.data ?? "");
  expect(text).toBe(MAIL.text);
  expect(headers).toMatchObject({
    ...{ From: "Switchyard <gateway@example.com>", To: "<ops@example.com>", Subject: "[warning] Balance low" },
    ...{ "Message-ID": "<msg_1@example.com>", Date: "Thu, 19 Nov 2026 12:00:00 +0000" },
  });
});

it.each([
  [{ hasStartTls: true, auth: "PLAIN" }, {}],
  [{ hasStartTls: true, auth: "LOGIN" }, {}],
  [{ isTls: true, auth: "PLAIN" }, { isTls: true }],
  [{ isTls: true, auth: "LOGIN" }, { isTls: true }],
] as const)("signs in over TLS: %o", async (options, terms) => {
  const { receipt, mails } = await send({ ...options, ...USER }, { ...terms, ...USER });
  expect(receipt).toMatchObject({ isTaken: true });
  expect(mails).toMatchObject([{ isSecure: true }]);
  const wrong = await send({ ...options, ...USER }, { ...terms, ...USER, password: "other" });
  expect(wrong.receipt).toMatchObject({ isTaken: false, isFinal: false, status: 535, answer: "wrong password" });
});

it("never sends a password without TLS", async () => {
  const { receipt, commands } = await send({ auth: "PLAIN", ...USER }, USER);
  expect(receipt).toMatchObject({
    isTaken: false,
    answer: "the mail server offers no TLS, so the password was not sent",
  });
  expect(commands.filter((line) => line.startsWith("AUTH"))).toEqual([]);
});

it("sends nothing where STARTTLS is missing, unless the configuration allows that", async () => {
  const { receipt, mails, commands } = await send({}, { allowsPlain: false });
  expect(receipt).toMatchObject({ isTaken: false, isFinal: false, answer: expect.stringContaining("smtp-plain://") });
  expect(mails).toEqual([]);
  expect(commands.filter((line) => !line.startsWith("EHLO"))).toEqual([]);
  expect((await send({ hasStartTls: true }, { allowsPlain: false })).receipt).toMatchObject({ isTaken: true });
});

it.each([{ hasStartTls: true }, { isTls: true }])("refuses a certificate that is not trusted: %o", async (options) => {
  const { receipt, mails } = await send(options, { isTls: "isTls" in options, isTrusted: false });
  expect(receipt).toMatchObject({ isTaken: false, status: null });
  expect(receipt.answer).toMatch(/self-signed certificate/i);
  expect(mails).toEqual([]);
});

it.each([
  [{ RCPT: "550 no such mailbox" }, { status: 550, isFinal: true, answer: "no such mailbox" }],
  [{ RCPT: "450-busy\r\n450 try later" }, { status: 450, isFinal: false, answer: "busy\ntry later" }],
  [
    { MAIL: "450 [10.1.2.3] and fd00::12 are busy, 12:30 mx.example.com." },
    { answer: "[…] and … are busy, 12:30 mx.example.com." },
  ],
  [{ MAIL: "421 closing" }, { status: 421, isFinal: false }],
  [{ ".": "552 too large" }, { status: 552, isFinal: false }],
  [{ greeting: "554 go away" }, { status: 554, isFinal: false }],
  [{ greeting: "HTTP/1.1 400 Bad Request" }, { status: null, answer: "the server does not speak SMTP" }],
  [{ EHLO: `250-${"x".repeat(70_000)}` }, { status: null, answer: "the mail server's reply is too long" }],
])("a server that replies %o", async (replies, expected) => {
  const { receipt, mails } = await send({ replies });
  expect(receipt).toMatchObject({ isTaken: false, ...expected });
  expect(mails).toEqual([]);
});

it.each(["greeting", "EHLO", "DATA"])("a server that is silent at %s ends with the time limit", async (step) => {
  const { receipt } = await send({ replies: { [step]: null } }, { timeoutMs: 300 });
  expect(receipt).toMatchObject({ isTaken: false, status: null, answer: "no answer within 0.3 s" });
});

it("no subject can add a header", async () => {
  const subject = `Größe\r\nBcc: everybody@example.com ${"ü".repeat(80)}`;
  const { mails } = await send({}, { mail: { subject } });
  const { headers } = read(mails[0]?.data ?? "");
  expect(headers.Bcc).toBeUndefined();
  const words = [...String(headers.Subject).matchAll(/=\?utf-8\?B\?([^?]*)\?=/g)];
  expect(words.map(([, word = ""]) => Buffer.from(word, "base64").toString("utf8")).join("")).toBe(subject);
});
