// The dashboard's entry: decides whether to set up, sign in or show a page. Style sheets are imported here in the order
// of the cascade.

import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/parts.css";
import "./styles/tier-range.css";
import "./styles/layers.css";
import "./styles/page.css";
import "./styles/top.css";
import "./styles/shell.css";
import "./styles/charts.css";
import "./styles/chart-parts.css";
import "./styles/beside.css";
import "./styles/tables.css";
import "./styles/sheet.css";
import "./styles/overview.css";
import "./styles/pages.css";
import "./styles/touch.css";
import "./styles/phone.css";
import "./styles/phone-tables.css";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { isSignedOut, useRepeat } from "./api.ts";
import { Failed, Skeleton } from "./kit/states.tsx";
import { Invited, NewPassword, SetUp, SignIn } from "./pages/sign-in/index.tsx";
import { loadPages, Page } from "./pages.tsx";
import { signInProblem } from "./parts/sign-in-problem.ts";
import { advanceRange } from "./range.ts";
import { go, place, startRouter } from "./router.ts";
import { loadSession, session, sessionError } from "./session.ts";
import { Shell } from "./shell.tsx";

/** Interval below the minute that a range moves by, so that the range is never much too old. */
const RANGE_MOVES_MS = 30_000;

/** Invitations and new passwords come first: their links must work for somebody who is signed in as somebody else. */
function App() {
  useRepeat(RANGE_MOVES_MS, advanceRange);
  useEffect(() => {
    void loadSession();
  }, []);
  if (session.value === null) {
    return (
      <main class="gate">
        {sessionError.value === null ? (
          <Skeleton />
        ) : (
          <Failed error={sessionError.value} onRetry={() => void loadSession()} />
        )}
      </main>
    );
  }
  const { user, setupNeeded } = session.value;
  // Somebody who could not link an identity began in Settings, which says why.
  if (user !== null && signInProblem() !== null && place.value.path !== "/settings") {
    queueMicrotask(() => go(`/settings${place.value.hash}`, { replace: true }));
  }
  const invitation = linkToken("invite");
  if (invitation !== null) return <Invited token={invitation} />;
  const reset = linkToken("reset");
  if (reset !== null) return <NewPassword token={reset} />;
  const setup = linkToken("setup");
  if (user === null && setupNeeded) return <SetUp token={setup ?? ""} />;
  // Once there is an admin, no set-up link works any more.
  if (user === null || isSignedOut.value) return <SignIn isSetUpLinkUsed={setup !== null} />;
  return (
    <Shell>
      {/* Another account is another page: nothing of the one before may stay. */}
      <Page key={place.value.query.get("account")} />
    </Shell>
  );
}

/** The token of a one-time link. It stands behind the `#`, where no server log sees it. */
function linkToken(kind: "setup" | "invite" | "reset"): string | null {
  const [path, query] = place.value.hash.slice(1).split("?");
  return path === `/${kind}` ? new URLSearchParams(query).get("token") : null;
}

startRouter();
void loadPages();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
