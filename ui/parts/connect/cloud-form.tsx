// The form that connects a cloud. A test names whom the cloud sees, and which models that account may use.

import { useState } from "preact/hooks";
import { PROVIDER_KINDS } from "../../../src/catalog/provider-kinds.ts";
import { PROVIDER_ID, type ProviderKind } from "../../../src/core/model.ts";
import { call } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { TextArea, TextField } from "../../kit/field.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { loadSession } from "../../session.ts";
import type { ProviderTested } from "../../types.ts";
import { TestOutcome } from "../provider-test.tsx";
import * as TEXT from "../text.ts";
import type { Cloud } from "./clouds.ts";

interface CloudFormProps {
  readonly cloud: Cloud;
  readonly onDone: () => void;
}

/** Fields as they are typed. Empty ones are left out. */
interface Typed {
  readonly id: string;
  readonly baseUrl: string;
  readonly region: string;
  readonly deployments: string;
  readonly apiKey: string;
  readonly signIn: Readonly<Record<string, string>>;
}

/** Nothing is stored before *Connect*: a test sends everything with the question. */
export function CloudForm({ cloud, onDone }: CloudFormProps) {
  const kind = PROVIDER_KINDS.find((row) => row.kind === cloud.kind) as ProviderKind;
  const [typed, setTyped] = useState<Typed>({
    ...{ id: cloud.id, baseUrl: "", region: cloud.region ?? "", deployments: "", apiKey: "", signIn: {} },
  });
  const [tested, setTested] = useState<ProviderTested | null>(null);
  const { problem, isBusy, run } = useTask();
  const id = typed.id.trim();
  const fields = fieldsOf(kind, typed);
  const test = (): Promise<void> => {
    setTested(null);
    const path = `/api/providers/${encodeURIComponent(id)}/test`;
    return run(call<ProviderTested>("POST", path, { body: { draft: fields }, isQuestion: true }), setTested);
  };
  const connect = (event: Event): void => {
    event.preventDefault();
    void run(call("POST", "/api/providers", { body: { id, ...fields } }), () => {
      showToast(TEXT.connected(cloud.name));
      // The sandbox may have ended with it.
      void loadSession();
      onDone();
    });
  };
  return (
    <form onSubmit={connect}>
      <CloudFields kind={kind} typed={typed} onChange={setTyped} />
      <div aria-live="polite">{tested !== null && <TestOutcome outcome={tested} />}</div>
      <footer>
        {problem}
        <Button isBusy={isBusy} isDisabled={!PROVIDER_ID.test(id)} onClick={test}>
          {TEXT.test}
        </Button>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {TEXT.connect}
        </Button>
      </footer>
    </form>
  );
}

interface CloudFieldsProps {
  readonly kind: ProviderKind;
  readonly typed: Typed;
  readonly onChange: (typed: Typed) => void;
}

/** The fields that the kind has. Those of the sign-in are for identities other than the machine's own. */
function CloudFields({ kind, typed, onChange }: CloudFieldsProps) {
  const set = (field: keyof Typed) => (value: string) => onChange({ ...typed, [field]: value });
  const { hasDeployments = false, signInFields = [] } = kind;
  const isRegional = kind.usualUrl?.includes("{region}") === true;
  const isProject = kind.usualUrl?.includes("{project}") === true;
  const others = signInFields.filter((name) => !(isProject && name === PROJECT));
  const signInField = (name: string, isRequired = false) => (
    <TextField
      key={name}
      label={TEXT.signInFields[name] ?? name}
      value={typed.signIn[name] ?? ""}
      onInput={(value) => onChange({ ...typed, signIn: { ...typed.signIn, [name]: value } })}
      isRequired={isRequired}
    />
  );
  return (
    <>
      <TextField label={TEXT.id} value={typed.id} onInput={set("id")} hint={TEXT.idHint} isRequired />
      {isProject && signInField(PROJECT, true)}
      {isRegional && (
        <TextField label={TEXT.region} value={typed.region} onInput={set("region")} hint={TEXT.regionHint} isRequired />
      )}
      {!isRegional && (
        <TextField
          label={TEXT.baseUrl}
          value={typed.baseUrl}
          onInput={set("baseUrl")}
          placeholder={TEXT.foundryUrlExample}
          isRequired
        />
      )}
      <TextField
        label={TEXT.cloudKey}
        type="password"
        value={typed.apiKey}
        onInput={set("apiKey")}
        hint={TEXT.cloudKeyHints[kind.auth.scheme]}
      />
      <details>
        <summary>{TEXT.otherIdentity}</summary>
        {others.map((name) => signInField(name))}
        {isRegional && (
          <TextField
            label={TEXT.cloudAddress}
            value={typed.baseUrl}
            onInput={set("baseUrl")}
            hint={TEXT.cloudAddressHint}
          />
        )}
      </details>
      {hasDeployments && <Deployments value={typed.deployments} onInput={set("deployments")} />}
    </>
  );
}

function Deployments(props: { readonly value: string; readonly onInput: (lines: string) => void }) {
  return (
    <TextArea
      label={TEXT.deployments}
      hint={TEXT.foundryDeploymentsHint}
      placeholder={TEXT.foundryDeploymentsExample}
      rows={3}
      isCode
      {...props}
    />
  );
}

const PROJECT = "project";

/** Builds the fields as the configuration has them. */
function fieldsOf({ kind, hasDeployments = false }: ProviderKind, typed: Typed): object {
  const [baseUrl, region, apiKey] = [typed.baseUrl.trim(), typed.region.trim(), typed.apiKey.trim()];
  const signIn = Object.fromEntries(
    Object.entries(typed.signIn)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([, value]) => value !== ""),
  );
  const pairs = typed.deployments
    .split("\n")
    .map((line) => line.split(/[=:]/).map((word) => word.trim()))
    .filter(([model = ""]) => model !== "");
  return {
    kind,
    ...(baseUrl !== "" && { baseUrl }),
    ...(region !== "" && { region }),
    ...(apiKey !== "" && { apiKey }),
    ...(Object.keys(signIn).length > 0 && { signIn }),
    ...(hasDeployments && {
      deployments: Object.fromEntries(pairs.map(([model = "", name = ""]) => [model, name])),
    }),
  };
}
