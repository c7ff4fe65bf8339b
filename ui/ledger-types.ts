// What /api/ledger answers, as far as the dashboard reads it.

export interface LedgerEntry {
  readonly id: string;
  readonly kind: string;
  readonly amountUsd: string;
  readonly balanceAfterUsd: string;
  readonly note: string | null;
  readonly actor: string | null;
  readonly requestId: string | null;
  readonly model: string | null;
  readonly createdAt: string;
  readonly entries: readonly { readonly book: string; readonly amountUsd: string }[];
}

export interface LedgerMonth {
  readonly month: string;
  readonly entries: number;
  readonly openingUsd: string;
  readonly topUpsUsd: string;
  readonly chargesUsd: string;
  readonly adjustmentsUsd: string;
  readonly closingUsd: string;
}
