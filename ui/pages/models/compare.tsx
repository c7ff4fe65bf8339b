// Which models are compared: ticked in the table, part of the address, four at most.

import { Button, ButtonLink } from "../../kit/button.tsx";
import { hrefWith, place, setQuery } from "../../router.ts";
import type { SeenModel } from "./facts.tsx";

export const COMPARED_MAX = 4;

export function chosenToCompare(models: readonly SeenModel[]): readonly SeenModel[] {
  const ids = (place.value.query.get("compare") ?? "").split(",");
  return [...new Set(ids)].flatMap((id) => models.filter((model) => model.id === id)).slice(0, COMPARED_MAX);
}

/** As a change of the address. */
export function compare(ids: readonly string[]): { readonly compare: string } {
  return { compare: ids.slice(0, COMPARED_MAX).join(",") };
}

export function ComparePick({ id, compared }: { readonly id: string; readonly compared: readonly SeenModel[] }) {
  const ids = compared.map((model) => model.id);
  const isIn = ids.includes(id);
  return (
    <input
      type="checkbox"
      aria-label={`Compare ${id}`}
      checked={isIn}
      disabled={!isIn && ids.length >= COMPARED_MAX}
      onChange={() => setQuery(compare(isIn ? ids.filter((each) => each !== id) : [...ids, id]), { replace: true })}
    />
  );
}

/** Stays in sight while models are ticked further down. */
export function CompareBar({ models }: { readonly models: readonly SeenModel[] }) {
  if (models.length === 0) return null;
  return (
    <div class="save-bar" role="status">
      <span class="grow">
        {models.map(({ id }) => id).join(", ")}{" "}
        <span class="faint">
          {models.length === 1 ? "Tick one more to compare." : `${models.length} of at most ${COMPARED_MAX}`}
        </span>
      </span>
      <Button onClick={() => setQuery({ compare: null }, { replace: true })}>Clear</Button>
      {models.length > 1 && (
        <ButtonLink kind="primary" href={hrefWith({ beside: "1", model: null })}>
          Compare side by side
        </ButtonLink>
      )}
    </div>
  );
}
