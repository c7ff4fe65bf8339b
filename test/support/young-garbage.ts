// What of some work collections of young objects keep. Nothing of it is in use by then, so it should be little: what is kept
// is copied, and once it is old, only a full collection frees it.

import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options?: { readonly type: "minor" }) => void;

/** In bytes, over several collections. The first portions make old what lasts. */
export function keptOf(portions: number, work: () => void): number {
  let kept = 0;
  for (let portion = 0; portion < portions; portion += 1) work();
  collect();
  const old = bytesIn(/^(old|large_object)_space$/);
  for (let portion = 0; portion < portions; portion += 1) {
    work();
    collect({ type: "minor" });
    kept += bytesIn(/^new_/);
  }
  return kept + bytesIn(/^(old|large_object)_space$/) - old;
}

function bytesIn(spaces: RegExp): number {
  const counted = getHeapSpaceStatistics().filter(({ space_name: name }) => spaces.test(name));
  return counted.reduce((sum, { space_used_size: size }) => sum + size, 0);
}
