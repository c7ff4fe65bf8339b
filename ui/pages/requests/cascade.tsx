// The answers of a cascade: which tier and model gave each, whether it passed its check, and what it cost.

import { exact, usd } from "../../format.ts";
import { Table } from "../../kit/table.tsx";
import { hrefTo } from "../../router.ts";
import type { RequestDetail } from "../../types.ts";
import * as TEXT from "./text.ts";

/** Nothing for a request without a cascade. */
export function CascadeAnswers({ cascade }: Pick<RequestDetail, "cascade">) {
  if (cascade === null) return null;
  const heads = [TEXT.tier, TEXT.model, TEXT.check, TEXT.charge];
  return (
    <Table class="compact" caption={TEXT.cascadeCaption} heads={heads}>
      {cascade.map(({ tier, model, passed, failedCheck, reason, chargeUsd, ledgerId }) => (
        <tr key={ledgerId}>
          <th scope="row">{tier}</th>
          <td>{model}</td>
          <td>
            <span class={`status ${passed ? "good" : "bad"}`}>
              {passed ? TEXT.passed : TEXT.failedCheck(failedCheck)}
            </span>
            {reason !== null && <p class="faint">{reason}</p>}
          </td>
          <td class="number" title={exact(chargeUsd)}>
            <a href={hrefTo("/credits", { entry: ledgerId })}>{usd(chargeUsd)}</a>
          </td>
        </tr>
      ))}
    </Table>
  );
}
