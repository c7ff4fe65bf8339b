// The options of the gateway: those that can change here by what they are about, those of the start, and the history.

import { SearchInput } from "../../kit/field.tsx";
import { Section } from "../../kit/page.tsx";
import { Empty } from "../../kit/states.tsx";
import { Table } from "../../kit/table.tsx";
import { History } from "../../parts/configuration/history.tsx";
import { type GatewayOption, OptionField } from "../../parts/configuration/options.tsx";
import { place, setQuery } from "../../router.ts";
import * as TEXT from "./text.ts";

/** The search is in the address, so that a link shares it. */
export function Configuration({ options }: { readonly options: readonly GatewayOption[] }) {
  const words = (place.value.query.get("q") ?? "").toLowerCase();
  const found = options.filter((option) =>
    [option.path, option.name, option.help, option.env].some((text) => text?.toLowerCase().includes(words)),
  );
  const live = found.filter(({ isLive }) => isLive);
  const sections = [...new Set(live.map(sectionOf))];
  return (
    <>
      <SearchInput
        isFilter
        label={TEXT.searchOptions}
        value={words}
        onInput={(q) => setQuery({ q }, { replace: true })}
      />
      {sections.map((section) => (
        <Options
          key={section}
          title={TEXT.SECTIONS[section] ?? section}
          options={live.filter((option) => sectionOf(option) === section)}
        />
      ))}
      <Options title={TEXT.atStart} options={found.filter(({ isSet, isLive }) => isSet && !isLive)} />
      <Options title={TEXT.defaults} options={found.filter(({ isSet, isLive }) => !isSet && !isLive)} />
      {found.length === 0 && <Empty title={TEXT.noOption} />}
      {words === "" && <History title={TEXT.history} of="/api/settings/history" />}
    </>
  );
}

function sectionOf({ path }: GatewayOption): string {
  return path?.split(".")[0] ?? "";
}

function Options({ title, options }: { readonly title: string; readonly options: readonly GatewayOption[] }) {
  if (options.length === 0) return null;
  return (
    <Section title={title}>
      <Table class="options" caption={title} heads={[TEXT.option, TEXT.value, TEXT.source]}>
        {options.map((option) => (
          <tr key={option.name}>
            <th scope="row" data-cell="name">
              <code>{option.path ?? option.name}</code>
              <small class="faint block">
                {option.help} {TEXT.usualIs(option.default)}
              </small>
            </th>
            <td data-cell="value">
              <OptionValue option={option} />
            </td>
            <td data-cell="from" class="faint">
              <Source option={option} />
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

/** Options that can change here have a field, unless file, environment or flag set them. */
function OptionValue({ option }: { readonly option: GatewayOption }) {
  const { isSecret, isSet, isLive, locked, value } = option;
  if (isLive && locked === null) return <OptionField option={option} />;
  return <>{isSecret ? (isSet ? TEXT.isSet : TEXT.notSet) : (value ?? "–")}</>;
}

/** Says where the value comes from. An option of the start that was not set names the variable that would set it. */
function Source({ option: { locked, origin, place: at, env, isSet, isLive } }: { readonly option: GatewayOption }) {
  if (locked !== null) return <>{TEXT.lockedBy(locked.place)}</>;
  if (origin === "version") return <>{TEXT.changedHere}</>;
  return (
    <>
      {at ?? TEXT.usual}
      {env !== null && !isSet && !isLive && <small class="block">{env}</small>}
    </>
  );
}
