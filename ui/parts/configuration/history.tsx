// The history of the run-time configuration, or of its options alone: who changed what and when, and the way back.

import { call, useLoad } from "../../api.ts";
import { ago, utc } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Section } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { ConfigurationVersion, List } from "../../types.ts";
import * as TEXT from "../text.ts";

/** Others, and other processes, change things too. */
const HISTORY_EVERY_MS = 5_000;

interface HistoryProps {
  readonly title: string;
  readonly of: "/api/versions" | "/api/settings/history";
}

/** The newest first. Rolling back is a change like any other and stands at the top afterwards. */
export function History({ title, of: path }: HistoryProps) {
  const versions = useLoad<List<ConfigurationVersion>>(`${path}?limit=50`, { everyMs: HISTORY_EVERY_MS });
  const { problem, run } = useTask();
  const rollBack = (number: number, newest: number): Promise<void> => {
    // The newest change of an option need not be the newest version.
    const body = path === "/api/versions" ? { base: newest } : {};
    return run(call("POST", `${path}/${number}/rollback`, { body }), () => showToast(TEXT.rolledBack(number)));
  };
  return (
    <Section title={title}>
      {problem}
      <Shown load={versions} rows={5}>
        {({ data, next }) =>
          data.length === 0 ? (
            <Empty title={TEXT.noHistory} />
          ) : (
            <ol class="plain-list versions">
              {data.map((version, index) => (
                <Version
                  key={version.number}
                  version={version}
                  onRollBack={index === 0 ? null : () => void rollBack(version.number, data[0]?.number ?? 0)}
                />
              ))}
              {next === null && (
                <li class="row">
                  <span class="grow faint">{TEXT.beforeAll}</span>
                  <Button
                    kind="quiet"
                    label={TEXT.rollBackTo(0)}
                    onClick={() => void rollBack(0, data[0]?.number ?? 0)}
                  >
                    {TEXT.rollBack}
                  </Button>
                </li>
              )}
            </ol>
          )
        }
      </Shown>
    </Section>
  );
}

interface VersionProps {
  readonly version: ConfigurationVersion;
  /** Rolls back to this version; null for the version in use. */
  readonly onRollBack: (() => void) | null;
}

/** One line, and all of its changes when opened. */
function Version({ version: { number, author, at, note, summary, changes }, onRollBack }: VersionProps) {
  return (
    <li>
      <div class="row">
        <b>#{number}</b>
        <span class="grow">
          {summary} {note !== "" && <span class="faint">“{note}”</span>}
        </span>
        <span class="faint" title={utc(at)}>
          {author}, {ago(at)}
        </span>
        {onRollBack === null ? (
          <span class="chip">{TEXT.inUse}</span>
        ) : (
          <Button kind="quiet" label={TEXT.rollBackTo(number)} onClick={onRollBack}>
            {TEXT.rollBack}
          </Button>
        )}
      </div>
      {changes.length > 1 && (
        <details>
          <summary>{TEXT.allChanges(changes.length)}</summary>
          <ul>
            {changes.map(({ path, words }) => (
              <li key={path}>{words}</li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}
