// The rules of a site for robots (RFC 9309): the group that names the agent, else the one for all; the longest rule counts.

interface RobotsRule {
  readonly isAllowed: boolean;
  readonly path: string;
}

export function mayRobotsRead(text: string, agent: string, path: string): boolean {
  const groups = groupsIn(text, [agent, "*"]);
  const rules = groups.get(agent) ?? groups.get("*") ?? [];
  let isAllowed = true;
  let longest = -1;
  for (const rule of rules) {
    const { length } = rule.path;
    if (length < longest || !matches(rule.path, path)) continue;
    isAllowed = length > longest ? rule.isAllowed : isAllowed || rule.isAllowed;
    longest = length;
  }
  return isAllowed;
}

/** Groups of other agents are skipped: a file with many names for many rules would fill the memory. */
function groupsIn(text: string, agents: readonly string[]): ReadonlyMap<string, readonly RobotsRule[]> {
  const groups = new Map<string, RobotsRule[]>();
  const names = new Set<string>();
  let hasRules = false;
  for (const line of text.split(/\r\n|[\r\n]/)) {
    const [content = ""] = line.split("#", 1);
    const [field = "", ...rest] = content.split(":");
    const name = field.trim().toLowerCase();
    const value = rest.join(":").trim();
    if (name === "user-agent") {
      const named = value.toLowerCase();
      if (hasRules) names.clear();
      hasRules = false;
      if (!agents.includes(named)) continue;
      names.add(named);
      if (!groups.has(named)) groups.set(named, []);
    } else if (name === "allow" || name === "disallow") {
      hasRules = true;
      if (value === "") continue;
      for (const each of names) groups.get(each)?.push({ isAllowed: name === "allow", path: value });
    }
  }
  return groups;
}

/** Stars stand for anything, and a dollar sign for the end. Reads the path once from left to right. */
function matches(rule: string, path: string): boolean {
  const isWhole = rule.endsWith("$");
  const parts = (isWhole ? rule.slice(0, -1) : rule).split("*");
  const [first = "", ...others] = parts;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const place = path.indexOf(part, at);
    if (place < 0) return false;
    at = place + part.length;
  }
  return !isWhole || at === path.length || (others.length > 0 && path.endsWith(others.at(-1) as string));
}
