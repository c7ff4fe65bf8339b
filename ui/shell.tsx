// The frame around every page: navigation, the top bar with balance and search, and the shortcuts that work
// everywhere.

import type { ComponentChildren } from "preact";
import { DASHBOARD_PAGES, pageAt } from "../src/http/pages/dashboard-pages.ts";
import { useLoad } from "./api.ts";
import { Banners } from "./banners.tsx";
import { exact, usd } from "./format.ts";
import { armChord, isChordArmed, type Shortcuts, useShortcuts } from "./keyboard.ts";
import { Button } from "./kit/button.tsx";
import { Dialog } from "./kit/dialog.tsx";
import { Popover } from "./kit/popover.tsx";
import { Facts } from "./kit/table.tsx";
import { Toasts } from "./kit/toast.tsx";
import { Palette } from "./palette.tsx";
import { go, hrefTo, leave, leavingFor, place, setQuery } from "./router.ts";
import { LOW_DAYS, runwayText } from "./runway.ts";
import { isOperator, may, openPages, session, signOut } from "./session.ts";
import { useSignal } from "./signal.ts";
import * as TEXT from "./text.ts";
import { setTheme, theme } from "./theme.ts";
import type { Account, Credits, List } from "./types.ts";
import { useRunway } from "./use-runway.ts";

/** Selector of the first filter of any page: each page marks its own. */
const FILTERS = "[data-filter],.filters :is(input,select)";
/** Interval that lets a caller see spending move, for one small query to the gateway. */
const BALANCE_EVERY_MS = 15_000;

/** The frame with a page in it. Palette and help are mounted only while open, so that they start empty each time. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const isPaletteOpen = useSignal(false);
  const isHelpOpen = useSignal(false);
  const shortcuts: Record<string, (event: KeyboardEvent) => void> = {
    "mod+k": (event) => {
      event.preventDefault();
      isPaletteOpen.value = true;
    },
    "?": () => {
      isHelpOpen.value = true;
    },
    "/": (event) => {
      const field = document.querySelector<HTMLElement>(FILTERS);
      if (field === null) return;
      event.preventDefault();
      field.focus();
    },
    g: armChord,
    ...chords(),
  };
  useShortcuts(shortcuts);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        {TEXT.skipToContent}
      </a>
      <Rail />
      <TopBar
        onSearch={() => {
          isPaletteOpen.value = true;
        }}
      />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      {isPaletteOpen.value && <Palette onClose={() => (isPaletteOpen.value = false)} />}
      {leavingFor.value !== null && <Unsaved />}
      {isHelpOpen.value && <Help onClose={() => (isHelpOpen.value = false)} />}
      <Toasts />
    </div>
  );
}

/** Asks before a link or Back leaves a page with edits. */
function Unsaved() {
  const stay = (): void => {
    leavingFor.value = null;
  };
  return (
    <Dialog title={TEXT.discardTitle} onClose={stay}>
      <p>{TEXT.discardHint}</p>
      <footer>
        <Button onClick={stay}>{TEXT.keepEditing}</Button>
        <Button kind="danger" onClick={leave}>
          {TEXT.discard}
        </Button>
      </footer>
    </Dialog>
  );
}

/** `g` and then a letter opens a page. Alone, the letter belongs to the page that is shown. */
function chords(): Shortcuts {
  return Object.fromEntries(
    openPages().map(({ key, path }) => [
      key,
      () => {
        if (isChordArmed()) go(hrefTo(path));
      },
    ]),
  );
}

/** Pages with a place in the bar of a phone. */
const PHONE_PAGES: ReadonlySet<string> = new Set(["overview", "requests", "playground", "keys"]);

/** The navigation. On a phone it has room for a few pages, and "More" opens a menu with all of them. */
function Rail() {
  const current = pageAt(place.value.path);
  const isElsewhere = current !== null && !PHONE_PAGES.has(current.name);
  return (
    <nav class="rail" aria-label={TEXT.pages}>
      <a class="brand" href={hrefTo("/")}>
        <Logo />
        {TEXT.switchyard}
      </a>
      <PageLinks current={current} />
      <Popover kind="menu" isCurrent={isElsewhere} label={<Labelled icon={MORE_ICON} text={TEXT.more} />}>
        <PageLinks current={current} />
        <a href="/docs">{TEXT.documentation}</a>
      </Popover>
      <p class="rail-foot faint">
        <a href="/docs">{TEXT.documentation}</a>
        <span>{session.value?.version}</span>
      </p>
    </nav>
  );
}

/** Every page under the heading of its group. */
function PageLinks({ current }: { readonly current: ReturnType<typeof pageAt> }) {
  const open = openPages();
  const groups = [...new Set(open.map(({ group }) => group))];
  return (
    <>
      {groups.map((group) => (
        <div key={group} class="rail-group">
          {group !== "" && <span>{group}</span>}
          {open
            .filter((page) => page.group === group)
            .map((page) => (
              <a
                key={page.path}
                href={hrefTo(page.path)}
                aria-current={page === current ? "page" : undefined}
                class={PHONE_PAGES.has(page.name) ? undefined : "wide"}
              >
                <Labelled icon={page.icon} text={page.title} />
              </a>
            ))}
        </div>
      ))}
    </>
  );
}

/** Three dots. */
const MORE_ICON = "M2 8h1M7.5 8h1M13 8h1";

/** The drawing says nothing that the text does not. */
function Labelled({ icon, text }: { readonly icon: string; readonly text: string }) {
  return (
    <>
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d={icon} />
      </svg>
      {text}
    </>
  );
}

/** Two tracks and a switch. Also shown on the sign-in page. */
export function Logo() {
  return (
    <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M6 22h20M6 22c8 0 8-12 20-12" />
      <circle cx="6" cy="22" r="2.6" />
    </svg>
  );
}

/** Theme that the next press of the theme button sets. */
const THEMES = { system: "light", light: "dark", dark: "system" } as const;
/** The symbol of the theme that is set. */
const THEME_MARKS = { system: "◐", light: "☀", dark: "☾" } as const;

/** Search, account, balance, theme and user. Below it, what makes requests fail now. */
function TopBar({ onSearch }: { readonly onSearch: () => void }) {
  const credits = useLoad<Credits>(may("readMoney") ? "/api/credits" : null, { everyMs: BALANCE_EVERY_MS });
  const days = useRunway(credits.data)?.days;
  // Held credits are not available: requests fail before the posted balance reaches zero.
  const isMetered = credits.data?.billingMode === "metered";
  const isBroke = credits.data !== null && !isMetered && Number(credits.data.availableUsd) <= 0;
  return (
    <>
      <header class="top">
        <button type="button" class="search" onClick={onSearch}>
          <span>{TEXT.search}</span>
          <kbd>⌘K</kbd>
        </button>
        <AccountPicker />
        {session.value?.readOnly === true && (
          <span class="chip" title={TEXT.readOnlyHint}>
            {TEXT.readOnly}
          </span>
        )}
        {session.value?.demo === true && (
          <a class="chip" href="/docs/dashboard/demo" title={TEXT.demoHint}>
            {TEXT.demo}
          </a>
        )}
        {session.value?.sandbox === true &&
          (isOperator() ? (
            <a class="chip" href={hrefTo("/providers")} title={TEXT.sandboxHint}>
              {TEXT.sandbox}
            </a>
          ) : (
            <span class="chip" title={TEXT.sandboxHint}>
              {TEXT.sandbox}
            </span>
          ))}
        {may("readMoney") && <Balance credits={credits.data} isBroke={isBroke} days={days ?? null} />}
        <button
          type="button"
          class="button quiet icon"
          aria-label={TEXT.switchTheme(theme.value)}
          onClick={() => setTheme(THEMES[theme.value])}
        >
          {THEME_MARKS[theme.value]}
        </button>
        <UserMenu />
      </header>
      <Banners availableUsd={credits.data === null || isMetered ? null : Number(credits.data.availableUsd)} />
    </>
  );
}

interface BalanceProps {
  readonly credits: Credits | null;
  readonly isBroke: boolean;
  readonly days: number | null;
}

function Balance({ credits, isBroke, days }: BalanceProps) {
  const isMetered = credits?.billingMode === "metered";
  return (
    <a class={`chip balance ${isBroke ? "bad" : ""}`} href={hrefTo("/credits")} title={balanceTitle(credits, days)}>
      <span class="hidden">{TEXT.balance} </span>
      {isMetered ? TEXT.metered : usd(credits?.availableUsd)}
      {!isMetered && days != null && days > 0 && (
        <span class={`runway ${days < LOW_DAYS ? "caution" : ""}`}>{runwayText(days, true)}</span>
      )}
    </a>
  );
}

/** The exact balance and how long it lasts, as a tooltip. */
function balanceTitle(credits: Credits | null, days: number | null | undefined): string {
  if (credits?.billingMode === "metered") return TEXT.meteredHint;
  const lasts = days != null && days > 0 ? TEXT.runwayHint(runwayText(days)) : "";
  return `${exact(credits?.availableUsd)}${lasts}`;
}

/** Offers operators their accounts, if they have several. Another account starts on the first page without a key filter. */
function AccountPicker() {
  const accounts = useLoad<List<Account>>(isOperator() ? "/api/accounts?limit=200" : null).data?.data ?? [];
  if (accounts.length < 2) return null;
  return (
    <select
      aria-label={TEXT.account}
      value={place.value.query.get("account") ?? "default"}
      onChange={(event) => setQuery({ account: event.currentTarget.value, after: null, key: null })}
    >
      {accounts.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Shows the first letter of the user who is signed in, and a menu. */
function UserMenu() {
  const email = session.value?.user?.email ?? "";
  return (
    <Popover kind="menu" label={email.slice(0, 1).toUpperCase() || "?"} name={TEXT.signedInAs(email)}>
      <p class="faint">{email}</p>
      <a href={hrefTo("/settings")}>{TEXT.settings}</a>
      <button type="button" onClick={() => void signOut()}>
        {TEXT.signOut}
      </button>
    </Popover>
  );
}

/** Keys and what they do, as the help shows them. */
const HELP = [
  [TEXT.paletteKeys, TEXT.openPalette],
  [
    TEXT.chordKeys(DASHBOARD_PAGES.map(({ key }) => key).join(" ")),
    DASHBOARD_PAGES.map(({ title }) => title).join(", "),
  ],
  ["/", TEXT.focusFilters],
  ["j k", TEXT.nextOrPreviousRow],
  [TEXT.enterEsc, TEXT.openOrCloseRow],
  [TEXT.copyKeys, TEXT.copyRequestId],
  ["n", TEXT.createHere],
  ["?", TEXT.showShortcuts],
] as const;

/** The list of shortcuts, opened with `?`. */
function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={TEXT.keyboardShortcuts} onClose={onClose}>
      <Facts facts={HELP.map(([keys, what]) => [what, <kbd key={keys}>{keys}</kbd>])} />
    </Dialog>
  );
}
