// A small SMTP server on loopback, for mails of alerts. Each test says what it offers and how it replies.

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";

export interface MailServerOptions {
  /** TLS from the first byte. */
  readonly isTls?: boolean;
  readonly hasStartTls?: boolean;
  readonly auth?: "PLAIN" | "LOGIN" | null;
  readonly user?: string;
  readonly password?: string;
  readonly certificate?: { readonly key: string; readonly cert: string };
  /** Replies to a command in the place of the usual reply; null for silence. */
  readonly replies?: Readonly<Record<string, string | null>>;
}

interface ReceivedMail {
  readonly from: string;
  readonly to: string;
  readonly isSecure: boolean;
  readonly data: string;
}

export interface MailServer {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  readonly commands: readonly string[];
  stop(): Promise<void>;
}

const decode = (text: string): string => Buffer.from(text, "base64").toString("utf8");

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    serve(options.isTls ? secured(socket, options) : socket, {
      options,
      mails,
      commands,
      isSecure: options.isTls ?? false,
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    commands,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function secured(socket: Socket, { certificate }: MailServerOptions): TLSSocket {
  const secureContext = createSecureContext(certificate);
  const tls = new TLSSocket(socket, { isServer: true, secureContext });
  tls.on("error", () => undefined);
  return tls;
}

interface Session {
  readonly options: MailServerOptions;
  readonly mails: ReceivedMail[];
  readonly commands: string[];
  readonly isSecure: boolean;
  readonly isAfterStartTls?: boolean;
}

function serve(socket: Socket, session: Session): void {
  const { options, mails, commands, isSecure } = session;
  const { hasStartTls = false, auth = null, user = "", password = "", replies = {} } = options;
  let [from, to, data] = ["", "", ""];
  let reading: "commands" | "data" | "user" | "password" = "commands";
  let buffer = "";
  const say = (text: string): void => void socket.write(`${text}\r\n`);
  const judge = (isRight: boolean): void => say(isRight ? "235 welcome" : "535 wrong password");
  const offered = [...(hasStartTls && !isSecure ? ["STARTTLS"] : []), ...(auth === null ? [] : [`AUTH ${auth}`])];
  const usual: Readonly<Record<string, (rest: string) => void>> = {
    EHLO: () =>
      say(
        ["mail.example", ...offered, "HELP"]
          .map((line, at) => `250${at > offered.length ? " " : "-"}${line}`)
          .join("\r\n"),
      ),
    STARTTLS: () => {
      say("220 go ahead");
      socket.removeAllListeners("data");
      serve(secured(socket, options), { ...session, isSecure: true, isAfterStartTls: true });
    },
    AUTH: (rest) => {
      if (rest.startsWith("PLAIN ")) return judge(decode(rest.slice(6)) === `\0${user}\0${password}`);
      reading = "user";
      say("334 VXNlcm5hbWU6");
    },
    MAIL: (rest) => {
      from = /<(.*)>/.exec(rest)?.[1] ?? "";
      say("250 ok");
    },
    RCPT: (rest) => {
      to = /<(.*)>/.exec(rest)?.[1] ?? "";
      say("250 ok");
    },
    DATA: () => {
      reading = "data";
      say("354 go ahead");
    },
    QUIT: () => void socket.end("221 bye\r\n"),
  };
  const take = (line: string): void => {
    if (reading === "data") {
      if (line !== ".") {
        data += `${line}\r\n`;
        return;
      }
      if (replies["."] === undefined) mails.push({ from, to, isSecure, data });
      [reading, data] = ["commands", ""];
      say(replies["."] ?? "250 queued as 1234");
      return;
    }
    if (reading === "user") {
      reading = decode(line) === user ? "password" : "commands";
      say(reading === "password" ? "334 UGFzc3dvcmQ6" : "535 who?");
      return;
    }
    if (reading === "password") {
      reading = "commands";
      judge(decode(line) === password);
      return;
    }
    commands.push(line);
    const [, word = "", rest = ""] = /^(\w+) ?(.*)$/.exec(line) ?? [];
    const reply = replies[word];
    if (reply === null) return;
    if (reply !== undefined) say(reply);
    else usual[word]?.(rest);
  };
  socket.on("data", (chunk: Buffer) => {
    buffer += chunk.toString("utf8");
    for (let end = buffer.indexOf("\r\n"); end >= 0; end = buffer.indexOf("\r\n")) {
      const line = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      take(line);
    }
  });
  if (session.isAfterStartTls !== true && replies.greeting !== null) say(replies.greeting ?? "220 mail.example ESMTP");
}
