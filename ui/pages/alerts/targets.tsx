// Targets of events, with a test and the last messages of each.

import { useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../../api.ts";
import { ago, utc } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Section } from "../../kit/page.tsx";
import { Shown } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { AlertMessage, AlertTarget, AlertTested } from "../../types.ts";
import { TargetForm } from "./form.tsx";
import * as TEXT from "./text.ts";

export function Targets() {
  const targets = useLoad<{ readonly data: readonly AlertTarget[] }>("/api/alerts");
  const [edited, setEdited] = useState<AlertTarget | null>(null);
  return (
    <Section title={TEXT.targets}>
      <Shown load={targets} rows={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p>{TEXT.noTargets}</p>
          ) : (
            <ul class="plain-list people">
              {data.map((target) => (
                <TargetItem key={target.id} target={target} onEdit={() => setEdited(target)} />
              ))}
            </ul>
          )
        }
      </Shown>
      {edited !== null && <TargetForm target={edited} onClose={() => setEdited(null)} />}
    </Section>
  );
}

interface TargetItemProps {
  readonly target: AlertTarget;
  readonly onEdit: () => void;
}

function TargetItem({ target, onEdit }: TargetItemProps) {
  const { id, name, channel, address, accountId, kinds, quiet, isPaused } = target;
  const { problem, isBusy, run } = useTask();
  const [tested, setTested] = useState<AlertTested | null>(null);
  const test = (): void => {
    setTested(null);
    void run(call<AlertTested>("POST", `/api/alerts/${id}/test`, { isQuestion: true }), setTested);
  };
  return (
    <li>
      <div class="row">
        <span class="grow">
          <b>{name}</b> <span class="faint">{address}</span>
        </span>
        <span class="chip">{TEXT.CHANNELS[channel]}</span>
        {accountId === null && <span class="chip">{TEXT.ofInstallation}</span>}
        {isPaused && <span class="chip">{TEXT.paused}</span>}
        <span class="faint">{kinds === null ? TEXT.allKinds : TEXT.kindCount(kinds.length)}</span>
        {quiet !== null && <span class="faint">{TEXT.quietFrom(quiet.from, quiet.to)}</span>}
        <Button kind="quiet" label={TEXT.testOf(name)} isBusy={isBusy} onClick={test}>
          {TEXT.test}
        </Button>
        <Button kind="quiet" label={TEXT.editOf(name)} onClick={onEdit}>
          {TEXT.edit}
        </Button>
        <Button kind="quiet" label={TEXT.removeOf(name)} onClick={() => void remove(target)}>
          {TEXT.remove}
        </Button>
      </div>
      {problem}
      {tested !== null && (
        <p role="status">
          {tested.isTaken ? TEXT.arrived(tested.status, tested.answer) : TEXT.failed(tested.status, tested.answer)}
        </p>
      )}
      <Messages target={target} />
    </li>
  );
}

/** The page reads its lists by itself after a write. */
async function remove({ id, name }: AlertTarget): Promise<void> {
  await call("DELETE", `/api/alerts/${id}`).then(
    () => showToast(TEXT.removed(name)),
    (problem: unknown) => showToast((problem as ApiError).message),
  );
}

/** Read only when somebody opens them. */
function Messages({ target: { id, name } }: { readonly target: AlertTarget }) {
  const [isOpen, setOpen] = useState(false);
  const path = isOpen ? `/api/alerts/${id}/messages` : null;
  const messages = useLoad<{ readonly data: readonly AlertMessage[] }>(path, { everyMs: 10_000 });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={TEXT.messagesOf(name)}>{TEXT.messages}</summary>
      {isOpen && (
        <Shown load={messages} rows={2}>
          {({ data }) =>
            data.length === 0 ? (
              <p>{TEXT.noMessages}</p>
            ) : (
              <ul class="plain-list">
                {data.map((message) => (
                  <li key={message.id}>
                    <span class="chip">{TEXT.STATES[message.state]}</span>{" "}
                    <span title={utc(message.createdAt)}>{ago(message.createdAt)}</span> {message.text}{" "}
                    <span class="faint">
                      {TEXT.attempts(message.attempts)} {message.result}
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Shown>
      )}
    </details>
  );
}
