// Names the build of the program that a process runs. Files may be replaced while a gateway runs, and processes of
// different builds may misread each other's messages.

/** Set by the bundler: a hash of everything that was compiled, so that two builds of one version differ. */
declare const BUILD_HASH: string | undefined;

/** Includes the version of Node, which encodes the messages. Programs that are not bundled have no hash. */
const BUILD = `${typeof BUILD_HASH === "undefined" ? "" : BUILD_HASH} ${process.version}`;

/** Variable that tells a worker which build started it. */
export const STARTED_BY = { PRIMARY_BUILD: BUILD };

/** Exit code of a worker of another build. */
export const OTHER_BUILD = 76;

/** Ends a worker of another build before its first message. Every build understands a variable and an exit code. */
export function requireSameBuild(): void {
  if (process.env.PRIMARY_BUILD !== BUILD) process.exit(OTHER_BUILD);
}
