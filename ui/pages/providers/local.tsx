// Model servers on the gateway's machine, or at an address: what they have, and their use at price zero.

import { useEffect, useState } from "preact/hooks";
import { call } from "../../api.ts";
import { plural } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { TextField } from "../../kit/field.tsx";
import { Skeleton } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { loadSession } from "../../session.ts";
import type { FoundServer, List } from "../../types.ts";
import { showPublished } from "./published.ts";
import * as TEXT from "./text.ts";

/** Looks for servers on the gateway's machine when the dialog opens, and elsewhere only at an address that is typed. */
export function LocalServers({ onClose }: { readonly onClose: () => void }) {
  const [address, setAddress] = useState("");
  const [found, setFound] = useState<readonly FoundServer[]>([]);
  const { problem, isBusy, run } = useTask();
  const look = (): Promise<void> => {
    const body = address.trim() === "" ? {} : { address: address.trim() };
    const asked = call<List<FoundServer>>("POST", "/api/providers/discover", { body, isQuestion: true });
    return run(asked, ({ data }) => setFound(data));
  };
  useEffect(() => void look(), []);
  const use = (server: FoundServer): void => {
    void run(call("POST", "/api/providers/adopt", { body: { address: server.address } }), () => {
      showPublished(TEXT.serverUsed(server.name));
      // The sandbox may have ended with it.
      void loadSession();
      onClose();
    });
  };
  return (
    <Dialog title={TEXT.localServers} onClose={onClose}>
      {isBusy ? (
        <Skeleton rows={3} />
      ) : (
        found.map((server) => <Server key={server.address} server={server} onUse={() => use(server)} />)
      )}
      {!isBusy && found.length === 0 && <p>{TEXT.noServer}</p>}
      {problem}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void look();
        }}
      >
        <TextField
          label={TEXT.address}
          value={address}
          onInput={setAddress}
          placeholder="192.168.1.20:11434"
          hint={TEXT.addressHint}
        />
        <footer>
          <Button type="submit" isBusy={isBusy}>
            {TEXT.look}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Offers a server that was found. The button that adopts the server also confirms the price. */
function Server({ server, onUse }: { readonly server: FoundServer; readonly onUse: () => void }) {
  const { name, address, models, needsKey } = server;
  const fresh = models.filter(({ model }) => model === null);
  return (
    <section aria-label={name}>
      <h3>
        {name} <small class="faint">{address}</small>
      </h3>
      <ul class="plain-list">
        {models.map(({ upstream, context, capabilities }) => (
          <li key={upstream}>
            {upstream}{" "}
            <small class="faint">
              {context !== null && plural(context, "token")} {capabilities.join(", ")}
            </small>
          </li>
        ))}
      </ul>
      {needsKey ? (
        <p class="faint">{TEXT.needsKey}</p>
      ) : fresh.length === 0 ? (
        <p class="faint">{TEXT.inUse}</p>
      ) : (
        <Button kind="primary" onClick={onUse}>
          {TEXT.useFree(plural(fresh.length, "model"))}
        </Button>
      )}
    </section>
  );
}
