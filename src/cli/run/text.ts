// Sentences of `switchyard run`.

export const nameProgram = (programs: string) => `Name the program to start, such as ${programs}.`;
export const notThere = (program: string) => `There is no program '${program}' on this machine's PATH.\n`;
export const remoteKey = (url: string, login: string) =>
  `No key for ${url}. Set SWITCHYARD_KEY to one of its keys, or sign in with: ${login}\n`;
export const keyRefused = (url: string, status: number) =>
  `The gateway at ${url} refused the key (${status}). Set SWITCHYARD_KEY to one of its keys.\n`;
export const otherGateway = (url: string) =>
  `The gateway at ${url} uses another database than this command. Set SWITCHYARD_KEY to one of its keys, or start it where this command runs.\n`;
export const notGateway = (url: string, reason: string) => `No gateway answers at ${url}: ${reason}.\n`;
export const started = (url: string, data: string) => `Gateway started for this session: ${url}, data in ${data}\n`;
export const using = (url: string) => `Gateway: ${url}\n`;
export const sandboxOnly = (variables: string) =>
  `No provider is connected, so every answer is simulated by the sandbox. Set ${variables} or another provider's key for real ones.\n`;
export const noUsage = (program: string) => `\n${program} sent no request.\n`;
export const usage = (told: {
  readonly requests: number;
  readonly errors: number;
  readonly cost: string;
  readonly baselineCost: string;
  readonly baseline: string;
}) => {
  const failed = told.errors === 0 ? "" : ` (${told.errors} failed)`;
  const requests = `${told.requests} request${told.requests === 1 ? "" : "s"}${failed}`;
  return `\nThis session cost $${told.cost} for ${requests}. With ${told.baseline} it would have cost $${told.baselineCost}.\n`;
};
export const simulatedUsage = "The sandbox answered: nobody bills these amounts.\n";
export const usageUnknown = (url: string) =>
  `\nWhat this session cost could not be read. The request log has it: ${url}\n`;
