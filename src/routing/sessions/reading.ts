// Calls that only look at something. To look twice is no sign of failure: a state is asked for again, a file is read
// again, a running job is polled.

/** Tells whether a tool call changes nothing, by the tool's name and the command that it runs. Unknown tools may change something. */
export function isReading(name: string, args: string): boolean {
  const command = commandOf(args);
  if (command !== null) return isReadingCommand(command);
  const before = known.get(name);
  if (before !== undefined) return before;
  const words = wordsOf(name);
  const isLooking = words.some((word) => LOOKS.has(word)) && !words.some((word) => CHANGES.has(word));
  if (known.size < KNOWN_MAX) known.set(name, isLooking);
  return isLooking;
}

/** Tools by name: clients have few. */
const known = new Map<string, boolean>();
const KNOWN_MAX = 2_000;

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z\d]+/);
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

const LOOKS = setOf(
  "read get view list ls show search find grep glob fetch look lookup describe inspect open cat head tail status poll wait check watch query browse stat info snapshot screenshot diff log logs count exists tree retrieve load peek monitor progress output",
);
const CHANGES = setOf(
  "run execute exec test tests lint build compile typecheck edit write create update delete insert replace patch apply send post submit install set add remove move rename commit push start stop restart click type fill save upload deploy",
);

const COMMAND = /"(?:command|cmd|script|shell_command|commandline)"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|\[([^\]]*)\])/i;
/** No more is read of the arguments of a call. */
export const COMMAND_CHARS = 600;

/** The command that a call runs; null where it runs none. */
function commandOf(args: string): string | null {
  const found = COMMAND.exec(args.length > COMMAND_CHARS ? args.slice(0, COMMAND_CHARS) : args);
  if (found === null) return null;
  const [, text, list] = found;
  const words = text ?? (list ?? "").replace(/"\s*,\s*"|^\s*"|"\s*$/g, " ");
  return words.replace(/^\s*(?:\/?\w+\/)*(?:ba|z|da)?sh -l?c /, "").replaceAll("\\n", "\n");
}

/** Programs that only show something, and those that do so with some of their commands. */
const SHOWS = setOf(
  "cat head tail less more ls ll pwd echo printf grep egrep rg ag find fd wc sort uniq cut awk tr jq yq column which whereis type file stat tree du df ps top free uptime date env printenv whoami id uname hostname sleep wait diff cmp md5sum sha256sum ping dig nslookup host lsof netstat ss nvidia-smi squeue sacct journalctl man true cd view test xxd basename dirname realpath nl tac",
);
const SHOWS_WITH: Readonly<Record<string, RegExp>> = {
  git: /^git (?:-\S+ )*(?:status|diff|log|show|branch|blame|rev-parse|ls-files|remote|fetch|grep|describe|stash list|reflog|config --get)\b/,
  sed: /^sed -n\b/,
  curl: /^curl (?!.*(?:-X ?(?:POST|PUT|PATCH|DELETE)|--data|-d |-F ))/,
  docker: /^docker (?:compose )?(?:ps|logs|inspect|images|stats|top|info)\b/,
  kubectl: /^kubectl (?:-\S+ )*(?:get|describe|logs|top|rollout status|wait)\b/,
  gh: /^gh \w+ (?:view|list|watch|status|checks|diff)\b/,
  npm: /^npm (?:ls|list|view|outdated|config get)\b/,
  pip: /^pip3? (?:list|show|freeze|check)\b/,
  systemctl: /^systemctl (?:status|is-active|list)/,
  terraform: /^terraform (?:show|output|state list)/,
  aws: /^aws \S+ (?:describe|list|get)/,
  tmux: /^tmux (?:capture-pane|ls|list)/,
  str_replace_based_edit_tool: /^view\b/,
};

function isReadingCommand(command: string): boolean {
  if (/(?<![\d&])>(?!\s*\/dev\/null|&)/.test(command)) return false;
  return command.split(/&&|\|\||[;|\n]/).every((part) => {
    const said = part.trim().replace(/^(?:\w+=\S+ |sudo |timeout \S+ |time |watch (?:-n ?\d+ )?|command )+/, "");
    const [program = ""] = said.split(/\s/, 1);
    return program === "" || SHOWS.has(program) || SHOWS_WITH[program]?.test(said) === true;
  });
}
