// Loaded by a gateway under test: SIGTERM as it looks for a local server at SIGNAL_AT_PORT, however busy the machine is.

import { subscribe, unsubscribe } from "node:diagnostics_channel";

const CONNECTING = "undici:client:beforeConnect";

subscribe(CONNECTING, onConnecting);

function onConnecting(message) {
  if (String(message.connectParams.port) !== process.env.SIGNAL_AT_PORT) return;
  unsubscribe(CONNECTING, onConnecting);
  process.kill(process.pid, "SIGTERM");
}
