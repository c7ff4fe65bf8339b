// Makes the paths of an endpoint with one route. The function is not in `paths.ts`: the dashboard takes each export of such
// a file for paths.

import { CHAT_PATHS } from "../openai-chat/paths.ts";
import type { CallRoute, ClientPaths } from "../paths.ts";

export function pathsOf(route: CallRoute): ClientPaths {
  return { ...CHAT_PATHS, routes: [route] };
}
