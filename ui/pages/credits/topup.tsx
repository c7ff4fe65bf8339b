// The dialog that adds credits.

import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { usd } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { TextField } from "../../kit/field.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import * as TEXT from "./text.ts";

/** Common amounts; any other can be typed. */
const AMOUNTS = ["5", "25", "100", "500"];

/** Amounts are sent as text, as the API wants them: no rounding on the way. */
export function TopUp({ onClose }: { readonly onClose: () => void }) {
  const [amount, setAmount] = useState("25");
  const [note, setNote] = useState("");
  const { problem, isBusy, run } = useTask();
  // One key per dialog: pressing again after a lost response adds nothing twice.
  const [idempotencyKey] = useState(() => `dashboard-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`);
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = { amountUsd: amount.trim(), note: note.trim() || null };
    const headers = { "idempotency-key": idempotencyKey };
    void run(call("POST", "/api/credits/topups", { body, headers }), () => {
      showToast(TEXT.added(usd(amount)));
      onClose();
    });
  };
  return (
    <Dialog title={TEXT.addCredits} onClose={onClose}>
      <form onSubmit={submit}>
        <p class="row">
          {AMOUNTS.map((each) => (
            <Button key={each} isPressed={amount === each} onClick={() => setAmount(each)}>
              ${each}
            </Button>
          ))}
        </p>
        <TextField label={TEXT.amountUsd} value={amount} onInput={setAmount} isRequired isFocused />
        <TextField label={TEXT.note} value={note} onInput={setNote} placeholder={TEXT.noteHint} />
        {problem}
        <footer>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {TEXT.addAmount(usd(Number(amount) || 0))}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
