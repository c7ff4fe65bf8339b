// Files of sections with keys and values, as AWS's tools write them.

export type IniSection = Readonly<Record<string, string>>;

/** Sections by name. Nested values, which are indented, are left out. */
export function readIni(text: string): ReadonlyMap<string, IniSection> {
  const sections = new Map<string, Record<string, string>>();
  let current: Record<string, string> | null = null;
  for (const line of text.split(/\r?\n/)) {
    const section = /^\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (section !== undefined) {
      const name = section.replace(/\s+/g, " ").replaceAll('"', "");
      current = sections.get(name) ?? {};
      sections.set(name, current);
      continue;
    }
    const [, key, value] = /^([^\s#;=][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (current !== null && key !== undefined && value) current[key] = value.replace(/\s[#;].*$/, "");
  }
  return sections;
}
