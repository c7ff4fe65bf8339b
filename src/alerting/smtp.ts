// A small SMTP client: one mail over one connection, with TLS from the start or by STARTTLS, and AUTH PLAIN or LOGIN.

import { connect, type LookupFunction, type Socket } from "node:net";
import { hostname } from "node:os";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { MailServer } from "../config/options/alerts.ts";
import { type Receipt, withoutAddresses } from "./http-call.ts";

export interface Mail {
  /** Stays the same for every attempt. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly atMs: number;
}

export interface MailTerms {
  readonly server: MailServer;
  readonly lookup: LookupFunction;
  readonly timeoutMs: number;
  /** Certificates to trust besides those of the system, for tests. */
  readonly ca?: string;
}

/** A reply that refuses, with its code. */
class Refused extends Error {
  readonly code: number;
  readonly isFinal: boolean;

  constructor({ code, text }: MailReply, isFinal = false) {
    super(text);
    this.code = code;
    this.isFinal = isFinal;
  }
}

const NO_TLS =
  "the mail server offers no TLS, so the mail was not sent; smtp-plain:// in alerts.mailServer allows that";
const REPLY_BYTES_MAX = 64 * 1024;

/** Never rejects: a failure is a value. */
export async function sendMail(mail: Mail, terms: MailTerms): Promise<Receipt> {
  const dialogue = new Dialogue(terms);
  const timer = setTimeout(
    () => dialogue.end(new Error(`no answer within ${terms.timeoutMs / 1000} s`)),
    terms.timeoutMs,
  );
  try {
    const { code, text } = await converse(dialogue, mail, terms.server);
    return { isTaken: true, isFinal: false, status: code, answer: withoutAddresses(text) };
  } catch (error) {
    const isRefused = error instanceof Refused;
    const answer = withoutAddresses((error as Error).message);
    return { isTaken: false, isFinal: isRefused && error.isFinal, status: isRefused ? error.code : null, answer };
  } finally {
    clearTimeout(timer);
    dialogue.end(new Error("the connection is closed"));
  }
}

async function converse(dialogue: Dialogue, mail: Mail, server: MailServer): Promise<MailReply> {
  const { from, user, password } = server;
  await dialogue.expect(220);
  let features = await greet(dialogue);
  if (!dialogue.isSecure() && features.has("STARTTLS")) {
    await dialogue.say("STARTTLS", 220);
    await dialogue.secure(server.host);
    features = await greet(dialogue);
  }
  // Somebody in between can take the offer of STARTTLS out of the reply.
  if (!dialogue.isSecure() && !server.allowsPlain) throw new Error(NO_TLS);
  if (user !== null) {
    if (!dialogue.isSecure()) throw new Error("the mail server offers no TLS, so the password was not sent");
    await signIn(dialogue, features, { user, password: password ?? "" });
  }
  await dialogue.say(`MAIL FROM:<${from}>`, 250);
  const recipient = await dialogue.ask(`RCPT TO:<${mail.to}>`);
  // The mailbox does not exist, and will not tomorrow.
  if (recipient.code !== 250 && recipient.code !== 251) throw new Refused(recipient, recipient.code >= 550);
  await dialogue.say("DATA", 354);
  const taken = await dialogue.say(`${written(mail, from)}\r\n.`, 250);
  // The mail is taken, whatever the server says now.
  dialogue.write("QUIT");
  return taken;
}

async function greet(dialogue: Dialogue): Promise<ReadonlyMap<string, string>> {
  const name = /^[\w.-]+$/.exec(hostname())?.[0] ?? "localhost";
  const { text } = await dialogue.say(`EHLO ${name}`, 250);
  const lines = text.split("\n").map((line) => /^(\S+) ?(.*)$/.exec(line) ?? []);
  return new Map(lines.map(([, word = "", rest = ""]) => [word.toUpperCase(), rest.toUpperCase()]));
}

async function signIn(
  dialogue: Dialogue,
  features: ReadonlyMap<string, string>,
  { user, password }: { readonly user: string; readonly password: string },
): Promise<void> {
  const ways = (features.get("AUTH") ?? "").split(" ");
  if (ways.includes("PLAIN")) {
    await dialogue.say(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, 235);
  } else if (ways.includes("LOGIN")) {
    await dialogue.say("AUTH LOGIN", 334);
    await dialogue.say(base64(user), 334);
    await dialogue.say(base64(password), 235);
  } else {
    throw new Error("the mail server offers neither AUTH PLAIN nor AUTH LOGIN");
  }
}

/** The text is encoded, so no line begins with a dot or is too long. */
function written({ id, to, subject, text, atMs }: Mail, from: string): string {
  const domain = from.slice(from.indexOf("@") + 1);
  return [
    `From: Switchyard <${from}>`,
    `To: <${to}>`,
    `Subject: ${headerText(subject)}`,
    `Date: ${new Date(atMs).toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${id}@${domain}>`,
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
    "",
    ...(base64(text).match(/.{1,76}/g) ?? []),
  ].join("\r\n");
}

/** Words of 45 bytes at most, because an encoded one may have 75 characters. No line can end early. */
function headerText(text: string): string {
  if (/^[\x20-\x7e]{0,200}$/.test(text)) return text;
  const words = [""];
  for (const letter of text) {
    const longer = words.at(-1) + letter;
    if (Buffer.byteLength(longer) > 45) words.push(letter);
    else words[words.length - 1] = longer;
  }
  return words.map((word) => `=?utf-8?B?${base64(word)}?=`).join("\r\n ");
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

interface MailReply {
  readonly code: number;
  /** Lines without their codes. */
  readonly text: string;
}

/** Commands and replies over one connection. */
class Dialogue {
  readonly #terms: MailTerms;
  #socket: Socket | TLSSocket;
  #isSecure: boolean;
  #received = "";
  #ended: Error | null = null;
  #wake = (): void => undefined;

  constructor(terms: MailTerms) {
    this.#terms = terms;
    const { server, lookup, ca } = terms;
    const { host, port, isTls } = server;
    this.#isSecure = isTls;
    const plain = { host, port, lookup };
    this.#socket = this.#watch(isTls ? connectTls({ ...plain, servername: host, ...(ca && { ca }) }) : connect(plain));
  }

  isSecure(): boolean {
    return this.#isSecure;
  }

  /** Text that came unencrypted after the reply to STARTTLS may be from somebody else, and is dropped. */
  async secure(servername: string): Promise<void> {
    const { ca } = this.#terms;
    this.#socket.removeAllListeners();
    this.#received = "";
    this.#socket = this.#watch(connectTls({ socket: this.#socket, servername, ...(ca && { ca }) }));
    this.#isSecure = true;
  }

  async expect(code: number): Promise<MailReply> {
    const reply = await this.#next();
    if (reply.code === code) return reply;
    throw new Refused(reply);
  }

  say(line: string, code: number): Promise<MailReply> {
    this.write(line);
    return this.expect(code);
  }

  ask(line: string): Promise<MailReply> {
    this.write(line);
    return this.#next();
  }

  write(line: string): void {
    this.#socket.write(`${line}\r\n`);
  }

  end(error: Error): void {
    this.#ended ??= error;
    this.#socket.end();
    this.#socket.destroySoon();
    this.#wake();
  }

  #watch<Kind extends Socket>(socket: Kind): Kind {
    socket.on("data", (chunk: Buffer) => {
      this.#received += chunk.toString("utf8");
      if (this.#received.length > REPLY_BYTES_MAX) this.end(new Error("the mail server's reply is too long"));
      this.#wake();
    });
    socket.on("error", (error) => this.end(error));
    socket.on("close", () => this.end(new Error("the mail server closed the connection")));
    return socket;
  }

  async #next(): Promise<MailReply> {
    for (;;) {
      const found = /^((?:\d{3}-.*\r?\n)*)(\d{3})(?: (.*))?\r?\n/.exec(this.#received);
      if (found !== null) {
        const [whole, before = "", code = "", last = ""] = found;
        this.#received = this.#received.slice(whole.length);
        const lines = before.split(/\r?\n/).filter((line) => line !== "");
        return { code: Number(code), text: [...lines.map((line) => line.slice(4)), last].join("\n") };
      }
      if (this.#ended !== null) throw this.#ended;
      if (/^(?!\d{3}[ -])[^\n]*\n/.test(this.#received)) throw new Error("the server does not speak SMTP");
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
