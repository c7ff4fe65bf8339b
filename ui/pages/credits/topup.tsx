// The dialog that adds credits.

import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api.ts";
import { usd } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { TextField } from "../../kit/field.tsx";
import { Problem } from "../../kit/states.tsx";
import { showToast } from "../../kit/toast.tsx";
import * as TEXT from "./text.ts";

/** Common amounts; any other can be typed. */
const AMOUNTS = ["5", "25", "100", "500"];

/** Amounts are sent as text, as the API wants them: no rounding on the way. */
export function TopUp({ onClose }: { readonly onClose: () => void }) {
  const [amount, setAmount] = useState("25");
  const [note, setNote] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  // One key per dialog: pressing again after a lost response adds nothing twice.
  const [idempotencyKey] = useState(() => `dashboard-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      const body = { amountUsd: amount.trim(), note: note.trim() || null };
      await call("POST", "/api/credits/topups", { body, headers: { "idempotency-key": idempotencyKey } });
      showToast(TEXT.added(usd(amount)));
      onClose();
    } catch (problem) {
      setError(problem as ApiError);
    }
    setBusy(false);
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
        <Problem error={error} />
        <footer>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {TEXT.addAmount(usd(Number(amount) || 0))}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
