// Refusals that visitors of the public demo read.

import { command } from "../../config/package.ts";

export const tooMany = (seconds: number) => `Too many requests. Try again in ${seconds} s.`;
export const tooManyAtOnce = "Too many requests at once. Wait for the ones that are running.";
export const tooManyStores = "This address has started the demo too often. Try again in a few minutes.";
export const full = () =>
  `Everybody's copy of the demo is in use. Try again in half a minute, or run it yourself: ${command("serve --demo")}.`;
export const noVisitor =
  "Open the dashboard in a browser with cookies first. Then changes get a copy of the demo of their own.";
export const notHere = "There is nothing at this path.";
