// Texts of the alerts page.

import { plural } from "../../format.ts";

// index.tsx
export const alerts = "Alerts";
export const purpose = "Events worth knowing about, and where they are sent.";
export const addTarget = "Add target";
export const events = "Events";
export const eventColumns = ["Time", "Severity", "Event", "State"] as const;
export const noEvents = "No events yet";
export const noEventsHint = "Low balances, failures and provider outages appear here.";
export const allKinds = "All kinds";
export const kind = "Kind";
export const lasting = "Now";
export const ended = (when: string) => `Ended ${when}`;
export const newest = "Newest";
export const older = "Older";

// targets.tsx
export const targets = "Targets";
export const noTargets = "Events aren't sent anywhere yet. Add a webhook, a Slack channel or an email address.";
export const CHANNELS: Readonly<Record<string, string>> = { webhook: "Webhook", slack: "Slack", email: "Email" };
export const paused = "Paused";
export const quietFrom = (from: string, to: string) => `Quiet ${from} to ${to}`;
export const kindCount = (count: number) => plural(count, "kind");
export const ofInstallation = "All accounts";
export const test = "Test";
export const testOf = (name: string) => `Test ${name}`;
export const edit = "Edit";
export const editOf = (name: string) => `Edit ${name}`;
export const remove = "Delete";
export const removeOf = (name: string) => `Delete ${name}`;
export const removed = (name: string) => `${name} deleted.`;
export const arrived = (status: number | null, answer: string) =>
  `Test delivered${status === null ? "" : ` (${status})`}. ${answer}`;
export const failed = (status: number | null, answer: string) =>
  `Test failed${status === null ? "" : ` (${status})`}: ${answer}`;
export const messages = "Recent messages";
export const messagesOf = (name: string) => `Recent messages to ${name}`;
export const noMessages = "Nothing sent yet.";
export const STATES: Readonly<Record<string, string>> = { waiting: "Waiting", sent: "Sent", failed: "Failed" };
export const attempts = (count: number) => plural(count, "attempt");

// form.tsx
export const newTarget = "New target";
export const changeTarget = (name: string) => `Change ${name}`;
export const channel = "Channel";
export const name = "Name";
export const url = "Address";
export const mailAddress = "Email address";
export const urlHint = "An https URL that accepts POST requests.";
export const slackHint = "An incoming webhook of Slack or Mattermost.";
export const mailHint = "The operator sets the mail server in the configuration.";
export const urlKept = (shown: string) => `Leave it empty to keep ${shown}.`;
export const everyKind = "All kinds of events";
export const kinds = "Kinds of events";
export const quietTimes = "Quiet times";
export const quietHint = "Hold back all but critical events at these times";
export const from = "From";
export const to = "To";
export const timeZone = "Time zone";
export const pause = "Paused: nothing is sent";
export const save = "Save";
export const saved = (name: string) => `${name} saved.`;
export const secretHint = "Messages are signed with this secret. It is shown only now.";
export const secret = "Signing secret";
export const done = "Done";
