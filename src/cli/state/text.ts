// Sentences of `switchyard apply`.

export const needsFile = "apply needs a file, or - for standard input.";
export const unreadable = (path: string, reason: string) => `${path} cannot be read: ${reason}.`;
export const notYaml = (reason: string) => `The file is not valid YAML: ${reason}`;
export const notMap = (sections: string) => `The file must be a map with any of ${sections}.`;
export const unknownSection = (name: string, sections: string) => `There is no section '${name}'. Known: ${sections}.`;
export const notList = (section: string) => `${section} must be a list, each entry with a name.`;
export const twice = (section: string, name: string) => `${section} names '${name}' twice.`;
export const severalThere = (noun: string, name: string) =>
  `The gateway has several ${noun}s named '${name}', so it is not clear which is meant. Rename or revoke one.`;
export const unset = (names: string) => `These variables of the file are not set: ${names}.`;
export const noReference = (noun: string, name: string) =>
  `There is no ${noun} named '${name}', in the file or at the gateway.`;
export const needsToken = "apply needs the admin token of the gateway in SWITCHYARD_ADMIN_TOKEN.";
export const unreachable = (url: string, reason: string) => `No gateway answers at ${url}: ${reason}`;
export const refused = (call: string, status: number, message: string) =>
  `${call} was refused with ${status}: ${message}`;
export const nothing = "Nothing differs.\n";
export const created = (noun: string, name: string) => `+ ${noun} ${name}`;
export const changed = (noun: string, name: string, words: string) => `~ ${noun} ${name}: ${words}`;
export const removed = (noun: string, name: string) => `- ${noun} ${name}`;
export const left = (noun: string, name: string) => `  ${noun} ${name} is not in the file; --prune removes it`;
export const removalQuestion = (count: number) => `Remove ${count} that the file does not have?`;
export const planned = (count: number) => `${count === 1 ? "1 change" : `${count} changes`} to make.\n`;
export const applied = (count: number) => `Made ${count === 1 ? "1 change" : `${count} changes`}.\n`;
export const stopped = (done: number, count: number) =>
  `Stopped after ${done} of ${count} changes. Run it again once the cause is gone: what was made is not made again.\n`;
export const keyText = (name: string) => `Key ${name}, shown once:\n`;
