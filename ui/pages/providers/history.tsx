// The history of the run-time configuration: who changed what and when, and the way back.

import { call, useLoad } from "../../api.ts";
import { ago, utc } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Section } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { ConfigurationVersion, List } from "../../types.ts";
import * as TEXT from "./text.ts";

/** The newest first. Rolling back is a change like any other and stands at the top afterwards. */
export function History() {
  const versions = useLoad<List<ConfigurationVersion>>("/api/versions?limit=50");
  const { problem, run } = useTask();
  const rollBack = (number: number, base: number): Promise<void> =>
    run(call("POST", `/api/versions/${number}/rollback`, { body: { base } }), () => showToast(TEXT.rolledBack(number)));
  return (
    <Section title={TEXT.history}>
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
