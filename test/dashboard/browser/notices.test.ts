import { expect, it } from "vitest";
import { createApiKey } from "../../harness/builders.ts";
import { tellOfKeys, tellOfLink } from "../../harness/notices.ts";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage();
const banner = () => own.page.getByRole("region", { name: "Needs your attention" });

it("every page shows the most serious notice with one action, until it is dismissed. ADR 0054", async () => {
  const { database } = own.stack;
  await createApiKey(own.stack, own.accountId);
  await tellOfLink(database, own.accountId);
  await tellOfKeys(database, own.accountId);
  for (const path of ["/", "/keys", "/endpoints", "/deliveries", "/activity"]) {
    await own.open(path);
    await banner().getByText("Somebody opened your link").waitFor();
    await banner().getByText("+ 1 more").waitFor();
  }
  await own.button("Dismiss").click();
  await banner().getByText("An API key ends on").waitFor();
  expect(await banner().getByText("more").count()).toBe(0);
  await own.page.reload();
  await banner().getByRole("link", { name: "Renew the key" }).click();
  await own.page.waitForURL("**/keys");
  await own.button("Dismiss").click();
  await banner().waitFor({ state: "detached" });
});

it("an owner whose link was reused signs out everywhere with one click. ADR 0054", async () => {
  await tellOfLink(own.stack.database, own.accountId);
  await own.page.reload();
  await banner().getByRole("button", { name: "Sign out everywhere" }).click();
  await own.page.getByRole("heading", { name: "You are signed out" }).waitFor();
});
