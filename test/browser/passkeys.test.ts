// Passkeys in a real browser with a virtual authenticator: added in Settings, used on the sign-in page, removed, and what
// the pages say where none can be used. Also at the width of a phone.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { beyondWindow, EMAIL, hasBrowser, PASSWORD, startDashboard } from "./dashboard.ts";

/** An authenticator as in a laptop. It counts uses, and verifies its user unless told otherwise. */
async function addAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      ...{ protocol: "ctap2", transport: "internal", automaticPresenceSimulation: true },
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    },
  });
  return {
    verifies: (isUserVerified: boolean) =>
      devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    credentials: async () => (await devtools.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
  };
}

describe.skipIf(!hasBrowser)("passkeys", () => {
  const { gateway, visit } = startDashboard();
  /** Passkeys need a host name. */
  const named = (path: string): string => gateway().url.replace("127.0.0.1", "localhost") + path;

  async function signInWithPassword(page: Page): Promise<void> {
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  }

  test("are added, used to sign in and removed, with the keyboard's names for everything", async () => {
    // Sets the gateway up.
    await visit("/");
    const { page } = await visit("/", { isSignedIn: false, viewport: { width: 390, height: 844 } });
    const authenticator = await addAuthenticator(page);
    await page.goto(named("/settings"));
    await signInWithPassword(page);
    await page.getByRole("heading", { name: "Passkeys" }).waitFor();
    const form = page.locator("details", { has: page.getByText("Add passkey") });
    await form.locator("summary").click();
    await form.getByLabel("Name").fill("Test laptop");
    await form.getByLabel("Current password").fill("not the password");
    await form.getByRole("button", { name: "Add passkey" }).click();
    await form.getByText("The current password is wrong.").waitFor();
    expect(await authenticator.credentials()).toEqual([]);
    await form.getByLabel("Current password").fill(PASSWORD);
    await form.getByRole("button", { name: "Add passkey" }).click();
    await page.getByText("Test laptop for localhost, used never").waitFor();
    expect(await authenticator.credentials()).toMatchObject([{ isResidentCredential: true, rpId: "localhost" }]);
    expect(await beyondWindow(page)).toBe(0);

    await page.locator(".settings").getByRole("button", { name: "Sign out" }).click();
    const signIn = page.getByRole("button", { name: "Sign in with a passkey" });
    await signIn.waitFor();
    expect(await beyondWindow(page)).toBe(0);
    await authenticator.verifies(false);
    await signIn.click();
    await page.getByText("No passkey was used.").waitFor();
    await authenticator.verifies(true);
    await signIn.click();
    await page.getByText(/Test laptop for localhost, used (just now|.* ago)/).waitFor();

    await page.getByRole("button", { name: "Remove passkey Test laptop" }).click();
    await page.getByText("Test laptop for localhost").waitFor({ state: "detached" });
    await page.locator(".settings").getByRole("button", { name: "Sign out" }).click();
    await signIn.click();
    await page.getByText("This passkey was not accepted.").waitFor();
    await signInWithPassword(page);
    await page.getByRole("heading", { name: "Passkeys" }).waitFor();
  });

  test("are not offered at an address without a name", async () => {
    const { page } = await visit("/settings");
    await page.getByRole("heading", { name: "Your account" }).waitFor();
    expect(await page.getByText("Passkeys").count()).toBe(0);
  });
});
