import { expect, test, vi } from "vitest";
import { OTHER_BUILD, requireSameBuild, STARTED_BY } from "../../../src/workers/build.ts";

const { PRIMARY_BUILD } = STARTED_BY;

test.each([
  ["the same build", PRIMARY_BUILD, []],
  ["another build", `1234${PRIMARY_BUILD}`, [[OTHER_BUILD]]],
  ["the same build on another Node", PRIMARY_BUILD.replace(process.version, "v99.0.0"), [[OTHER_BUILD]]],
  ["a build that does not say", undefined, [[OTHER_BUILD]]],
])("a worker of %s", (_, startedBy, exits) => {
  const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
  vi.stubEnv("PRIMARY_BUILD", startedBy);
  requireSameBuild();
  expect(exit.mock.calls).toEqual(exits);
});
