// Providers: connecting them, the chains of models that requests follow, their prices, and the history of all such changes.
// For operators.

import { PageHead } from "../../kit/page.tsx";
import { Tabs } from "../../kit/tabs.tsx";
import { History } from "../../parts/configuration/history.tsx";
import { place, setQuery } from "../../router.ts";
import { isOperator } from "../../session.ts";
import { Chains } from "./chains.tsx";
import { ProviderList } from "./list.tsx";
import { Prices } from "./prices.tsx";
import * as TEXT from "./text.ts";

/** The tabs, by their names in the address. */
const TABS = [
  { id: "providers", label: TEXT.providers, show: () => <ProviderList /> },
  { id: "chains", label: TEXT.chains, show: () => <Chains /> },
  { id: "prices", label: TEXT.prices, show: () => <Prices /> },
  { id: "history", label: TEXT.history, show: () => <History title={TEXT.history} of="/api/versions" /> },
];

/** Everything here changes the running gateway, without a restart. */
export function Providers() {
  return (
    <>
      <PageHead title={TEXT.providers} purpose={TEXT.purpose} />
      {isOperator() ? (
        <Tabs
          label={TEXT.providers}
          tabs={TABS}
          chosen={place.value.query.get("tab") ?? "providers"}
          onChoose={(tab) => setQuery({ tab: tab === "providers" ? null : tab }, { replace: true })}
        />
      ) : (
        <p class="notice">{TEXT.adminsOnly}</p>
      )}
    </>
  );
}
