// Texts of the credits page.

// index.tsx
export const credits = "Credits";
export const purpose = "Balance and full transaction history.";
export const addCredits = "Add credits";
export const ledger = "Ledger";
export const entryType = "Entry type";
export const csv = "CSV";
export const ledgerPages = "Ledger pages";
export const newest = "Newest";
export const older = "Older";
export const all = "All";
export const topUps = "Top-ups";
export const charges = "Charges";
export const adjustments = "Adjustments";
export const grants = "Grants";
export const emptyHint = "Top-ups and charges appear here.";
export const noEntriesYet = "No entries yet";
export const askForCredits = "Ask your admin to add credits.";
export const showAllEntries = "Show all entries";
export const noEntriesOfType = "No entries of this type";
export const noEntriesInMonth = "No matching entries this month";
export const balance = "Balance";
export const billingMode = "Billing mode";
export const metered = "Metered";
export const meteredHint = "Every request is recorded. A grant covers each charge, so none fails with 402.";
export const spending = "Spending";
export const perDayLast7 = "per day, last 7 days";
export const prepaidOnly = "Used only in prepaid mode";
export const balanceLasts = (days: string) => `Your balance lasts about ${days}. At zero, requests fail with 402.`;
export const available = "Available";
export const totalIsCap = (total: string) => `${total} total. A spending cap: no card is charged.`;
export const reserved = "Reserved";
export const reservedForRunningRequests = "Reserved for running requests";
export const runway = "Runway";
export const nothingSpent = "Nothing spent in the last 7 days";
export const tooEarlyToTell = "Too early to tell";
export const atTheRate = "at the";
export const ofPerDay = (amount: string) => `of ${amount} a day`;
export const last7DaysRate = "last 7 days' rate";
export const starterCredit = "Starter credit: a spending cap to try things out";
export const entriesCaption = "Ledger entries, newest first";
export const time = "Time";
export const type = "Type";
export const details = "Details";
export const addedBy = "Added by";
export const amount = "Amount";
export const balanceAfter = "Balance after";
export const coversMetered = "Covers the next metered charge";
export const topUp = "Top-up";
export const charge = "Charge";
export const adjustment = "Adjustment";
export const grant = "Grant";

// days.tsx
export const dailyBalance = "Balance by day (UTC)";
export const chargedIn = (amount: string, days: string) => `${amount} charged in ${days}.`;
export const day = "Day";

// months.tsx
export const monthlySummary = "Monthly summary";
export const showAllMonths = "Show all months";
export const monthsCaption = "Monthly summary (UTC), newest first";
export const month = "Month";
export const openingBalance = "Opening balance";
export const closingBalance = "Closing balance";
export const showAllMonthsNotOnly = (month: string) => `Show all months, not only ${month}`;
export const entries = "Entries";

// topup.tsx
export const amountUsd = "Amount, USD";
export const note = "Note";
export const noteHint = "Optional, shown in the ledger";
export const addAmount = (amount: string) => `Add ${amount}`;
export const added = (amount: string) => `${amount} added.`;
