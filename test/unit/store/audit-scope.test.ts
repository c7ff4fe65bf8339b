// Scopes of audited changes: each sees its own alone, and nothing is left of them when the last one ends.

import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test, vi } from "vitest";
import type { AuditEntry } from "../../../src/store/audit/entry.ts";
import { inScope, openScope } from "../../../src/store/audit/scope.ts";

function entry(object: string): AuditEntry {
  return {
    ...{ atMs: 0, actor: { kind: "user", name: "ada@example.com", accountId: null }, action: "changeKey", object },
    ...{ accountId: null, outcome: "done", address: null, requestId: null, before: null, after: null },
  };
}

test("a change that ends leaves others their scope, and the last one stops the tracking", async () => {
  const disable = vi.spyOn(AsyncLocalStorage.prototype, "disable");
  const finish: (() => void)[] = [];
  const change = (object: string, isFailed = false) =>
    inScope(entry(object), async () => {
      await new Promise<void>((resolve) => finish.push(resolve));
      expect(openScope()?.entry.object).toBe(object);
      if (isFailed) throw new Error("failed");
    });
  const first = change("keys/key_1");
  const second = change("keys/key_2", true);
  finish[0]?.();
  await first;
  expect(disable).not.toHaveBeenCalled();
  finish[1]?.();
  await expect(second).rejects.toThrow("failed");
  expect(disable).toHaveBeenCalledOnce();
  // The next change is tracked again.
  await inScope(entry("keys/key_3"), async () => {
    await Promise.resolve();
    expect(openScope()?.entry.object).toBe("keys/key_3");
  });
  expect(openScope()).toBeNull();
  disable.mockRestore();
});
