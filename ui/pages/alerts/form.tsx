// The form of a target, new or changed. A webhook's secret is shown once, after it was made.

import { useState } from "preact/hooks";
import { ALERT_KIND_NAMES, ALERT_KINDS } from "../../../src/core/alerts/kinds.ts";
import { call } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { CopyBlock } from "../../kit/copy.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Check, SelectField, TextField } from "../../kit/field.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { place } from "../../router.ts";
import { isOperator } from "../../session.ts";
import type { AlertTarget, MadeAlertTarget } from "../../types.ts";
import * as TEXT from "./text.ts";

interface TargetFormProps {
  /** The target to change; null for a new one. */
  readonly target: AlertTarget | null;
  readonly onClose: () => void;
}

const MAIL_START = "mailto:";
const HINTS: Readonly<Record<string, string>> = { webhook: TEXT.urlHint, slack: TEXT.slackHint, email: TEXT.mailHint };
const CHANNEL_OPTIONS = Object.entries(TEXT.CHANNELS).map(([value, label]) => ({ value, label }));
/** Usual hours, in the time zone of this browser. */
const NIGHT = { from: "22:00", to: "07:00", timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone };

export function TargetForm({ target, onClose }: TargetFormProps) {
  const [channel, setChannel] = useState(target?.channel ?? "webhook");
  const [name, setName] = useState(target?.name ?? "");
  const [address, setAddress] = useState("");
  const [kinds, setKinds] = useState<readonly string[] | null>(target?.kinds ?? null);
  const [quiet, setQuiet] = useState(target?.quiet ?? null);
  const [isPaused, setPaused] = useState(target?.isPaused ?? false);
  const [secret, setSecret] = useState<string | null>(null);
  const { problem, isBusy, run } = useTask();
  const submit = (event: Event): void => {
    event.preventDefault();
    const url = address === "" ? {} : { url: channel === "email" ? MAIL_START + address.trim() : address.trim() };
    const body = { name, kinds, quiet, isPaused, ...url };
    const made = target === null ? { channel, ...accountField() } : {};
    const [method, path] = target === null ? ["POST", "/api/alerts"] : ["PATCH", `/api/alerts/${target.id}`];
    void run(call<Partial<MadeAlertTarget>>(method, path, { body: { ...body, ...made } }), (result) => {
      showToast(TEXT.saved(name));
      if (result.secret == null) onClose();
      else setSecret(result.secret);
    });
  };
  const title = target === null ? TEXT.newTarget : TEXT.changeTarget(target.name);
  if (secret !== null) return <SecretDialog title={title} secret={secret} onClose={onClose} />;
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        {target === null && (
          <SelectField label={TEXT.channel} value={channel} options={CHANNEL_OPTIONS} onChange={setChannel} />
        )}
        <TextField label={TEXT.name} value={name} onInput={setName} maxLength={200} isRequired />
        <TextField
          label={channel === "email" ? TEXT.mailAddress : TEXT.url}
          value={address}
          onInput={setAddress}
          isRequired={target === null}
          hint={target === null ? HINTS[channel] : TEXT.urlKept(target.address)}
        />
        <Kinds kinds={kinds} onChange={setKinds} />
        <Quiet quiet={quiet} onChange={setQuiet} />
        <Check label={TEXT.pause} isOn={isPaused} onChange={setPaused} />
        {problem}
        <Button type="submit" kind="primary" isBusy={isBusy}>
          {TEXT.save}
        </Button>
      </form>
    </Dialog>
  );
}

/** An operator who looks at one account makes a target of that account, and otherwise one of the installation. */
function accountField(): object {
  return isOperator() ? { accountId: place.value.query.get("account") } : {};
}

interface KindsProps {
  readonly kinds: readonly string[] | null;
  readonly onChange: (kinds: readonly string[] | null) => void;
}

/** Kinds that only operators see are not offered to owners. */
function Kinds({ kinds, onChange }: KindsProps) {
  const offered = ALERT_KIND_NAMES.filter((kind) => isOperator() || ALERT_KINDS[kind].scope === "account");
  const toggle = (kind: string, isOn: boolean): void =>
    onChange(offered.filter((each) => (each === kind ? isOn : kinds?.includes(each))));
  return (
    <fieldset>
      <legend>{TEXT.kinds}</legend>
      <Check label={TEXT.everyKind} isOn={kinds === null} onChange={(isAll) => onChange(isAll ? null : offered)} />
      {kinds !== null &&
        offered.map((kind) => (
          <Check
            key={kind}
            label={ALERT_KINDS[kind].title}
            isOn={kinds.includes(kind)}
            onChange={(isOn) => toggle(kind, isOn)}
          />
        ))}
    </fieldset>
  );
}

type QuietTime = typeof NIGHT;

interface QuietProps {
  readonly quiet: QuietTime | null;
  readonly onChange: (quiet: QuietTime | null) => void;
}

function Quiet({ quiet, onChange }: QuietProps) {
  return (
    <fieldset>
      <legend>{TEXT.quietTimes}</legend>
      <Check label={TEXT.quietHint} isOn={quiet !== null} onChange={(isOn) => onChange(isOn ? NIGHT : null)} />
      {quiet !== null && (
        <>
          <div class="pair">
            <TextField
              label={TEXT.from}
              value={quiet.from}
              onInput={(from) => onChange({ ...quiet, from })}
              isRequired
            />
            <TextField label={TEXT.to} value={quiet.to} onInput={(to) => onChange({ ...quiet, to })} isRequired />
          </div>
          <TextField
            label={TEXT.timeZone}
            value={quiet.timeZone}
            onInput={(timeZone) => onChange({ ...quiet, timeZone })}
            isRequired
          />
        </>
      )}
    </fieldset>
  );
}

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

function SecretDialog({ title, secret, onClose }: SecretDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{TEXT.secretHint}</p>
      <CopyBlock text={secret} label={TEXT.secret} />
      <Button kind="primary" onClick={onClose}>
        {TEXT.done}
      </Button>
    </Dialog>
  );
}
