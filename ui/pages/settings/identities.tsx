// Identities with which the user can sign in, and buttons to link further ones.

import { call, useLoad } from "../../api.ts";
import { ago } from "../../format.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { Section } from "../../kit/page.tsx";
import { useTask } from "../../kit/task.tsx";
import { signInProblem } from "../../parts/sign-in-problem.ts";
import type { Identities, IdentityProviders } from "../../types.ts";
import * as TEXT from "./text.ts";

/** Empty where the gateway has no identity providers and the user no identity. */
export function LinkedIdentities() {
  const providers = useLoad<IdentityProviders>("/api/sign-in").data?.data ?? [];
  const linked = useLoad<Identities>("/api/session/identities").data?.data ?? [];
  const { problem, run } = useTask();
  const failed = signInProblem();
  const forPeople = providers.filter(({ clientId }) => clientId !== null);
  const open = forPeople.filter(({ issuer }) => !linked.some((identity) => identity.issuer === issuer));
  if (forPeople.length === 0 && linked.length === 0) return null;
  return (
    <Section title={TEXT.identities}>
      {failed !== null && <p class="notice bad">{failed}</p>}
      <ul class="plain-list people">
        {linked.map(({ id, issuer, email, subject, lastSignInAt }) => (
          <li key={id} class="row">
            <span class="grow">
              {providers.find((provider) => provider.issuer === issuer)?.name ?? issuer}{" "}
              <span class="faint">{TEXT.identity(email, subject, ago(lastSignInAt))}</span>
            </span>
            <Button onClick={() => void run(call("DELETE", `/api/session/identities/${id}`))}>{TEXT.unlink}</Button>
          </li>
        ))}
      </ul>
      {problem}
      {open.map(({ id, name }) => (
        <ButtonLink key={id} href={`/api/sign-in/${id}?link=1&to=/settings`}>
          {TEXT.link(name)}
        </ButtonLink>
      ))}
    </Section>
  );
}
