// Budgets: each as a bar with what is spent, what is left and where it ends at the present rate.

import { useLoad } from "../../api.ts";
import { useShortcuts } from "../../keyboard.ts";
import { Button } from "../../kit/button.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { place, setQuery } from "../../router.ts";
import { isOperator, may } from "../../session.ts";
import type { Budget, List } from "../../types.ts";
import { BudgetBar } from "./bar.tsx";
import { BudgetEditor } from "./edit.tsx";
import * as TEXT from "./text.ts";

const EVERY_MS = 10_000;
/** Values of a budget that are drawn as bars. The API has more. */
const VALUES_SHOWN = 5;

/** The address opens the dialog: `new` for a new budget, `edit` for one that is there. */
export function Budgets() {
  const { query } = place.value;
  const budgets = useLoad<List<Budget>>("/api/budgets?limit=200", { everyMs: EVERY_MS });
  const add = (): void => setQuery({ new: "1" });
  const close = (): void => setQuery({ new: null, edit: null }, { replace: true });
  useShortcuts(may("manage") ? { n: add } : {});
  const edited = may("manage") ? budgets.data?.data.find(({ id }) => id === query.get("edit")) : undefined;
  return (
    <>
      <PageHead title={TEXT.budgets} purpose={TEXT.purpose}>
        {may("manage") && (
          <Button kind="primary" onClick={add}>
            {TEXT.setBudget}
          </Button>
        )}
      </PageHead>
      <Shown load={budgets} rows={5}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty
              title={TEXT.noBudgets}
              action={may("manage") ? <Button onClick={add}>{TEXT.setBudget}</Button> : null}
            >
              {TEXT.emptyHint}
            </Empty>
          ) : (
            <ul class="cards">
              {data.map((budget) => (
                <BudgetCard key={budget.id} budget={budget} />
              ))}
            </ul>
          )
        }
      </Shown>
      {query.get("new") !== null && may("manage") && <BudgetEditor saved={null} onClose={close} />}
      {edited !== undefined && <BudgetEditor key={edited.id} saved={edited} onClose={close} />}
    </>
  );
}

function BudgetCard({ budget }: { readonly budget: Budget }) {
  const { id, name, hard, setByOperator, standing, values } = budget;
  const mayEdit = isOperator() || (may("manage") && !setByOperator);
  return (
    <li class="card">
      <div class="head-row">
        <h2 class="grow">{name}</h2>
        {mayEdit && (
          <Button kind="quiet" label={TEXT.editNamed(name)} onClick={() => setQuery({ edit: id })}>
            {TEXT.edit}
          </Button>
        )}
      </div>
      <ul class="chips">
        <li class="chip">{scopeText(budget)}</li>
        {!hard && <li class="chip">{TEXT.warnsOnly}</li>}
        {setByOperator && <li class="chip">{TEXT.setByOperator}</li>}
      </ul>
      {standing !== null && <BudgetBar budget={budget} standing={standing} name={name} />}
      {standing === null && values.length === 0 && <p class="faint">{TEXT.noneYet}</p>}
      {values.slice(0, VALUES_SHOWN).map((one) => (
        <section key={one.value}>
          <h3>{one.label ?? one.value}</h3>
          <BudgetBar budget={budget} standing={one} name={`${name}, ${one.label ?? one.value}`} />
        </section>
      ))}
    </li>
  );
}

function scopeText({ scope, value, label, each }: Budget): string {
  if (scope === "account") return TEXT.wholeAccount;
  const named = (TEXT.scopes[scope] ?? scope).toLowerCase();
  if (each) return value === null || value === "" ? TEXT.eachOne(named) : TEXT.eachValue(named, value);
  return TEXT.scopeOf(named, label ?? value ?? "");
}
