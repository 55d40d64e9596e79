import { DonationService } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { createPaidDonation } from "../../harness/builders.ts";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage();

describe("activity", () => {
  it.each(["/", "/activity"])("is live at %s, also when a record goes. §3, §4.4", async (path) => {
    const { accountId } = own;
    await own.open(path);
    await own.see("Nothing happened yet");
    const ada = { donorName: "Ada", message: "Hello!" };
    const { externalId } = await createPaidDonation(own.stack, accountId, ada);
    const row = own.row("Ada");
    await row.getByText("€5.00").waitFor();
    await row.getByText("Hello!").waitFor();
    const refund = { accountId, externalId, refundExternalId: "refund", amountCents: 500n };
    await own.stack.client(DonationService).refundDonation(refund);
    await row.waitFor({ state: "detached" });
  });

  it("is filtered by type, platform and time, and shows times with their zone, in UTC on hover. §4.2", async () => {
    await createPaidDonation(own.stack, own.accountId, { donorName: "Ada" });
    await own.open("/activity");
    const row = own.row("Ada");
    await row.waitFor();
    const time = row.locator("time");
    expect(await time.textContent()).toBe("just now");
    const iso = (await time.getAttribute("datetime")) ?? "";
    const utc = `${iso.slice(0, 19).replace("T", " ")} UTC`;
    const exact = (await row.getByRole("link").getAttribute("title")) ?? "";
    expect(exact).toMatch(/\d\d:\d\d:\d\d [A-Z]\S+ · /);
    expect(exact.endsWith(utc)).toBe(true);
    for (const [label, miss, hit] of [
      ["Type", "Raid", "Donation"],
      ["Platform", "CSV file", "Service"],
    ] as const) {
      await own.page.getByLabel(label).selectOption(miss);
      await own.see("Nothing matches");
      await own.page.getByLabel(label).selectOption(hit);
      await row.waitFor();
    }
    await own.page.getByLabel("24 hours").check();
    await row.waitFor();
    await own.page.getByLabel("Custom").check();
    await own.page.getByLabel("Stored until (GMT+5:30)").fill("2020-01-01T00:00");
    await own.see("Nothing matches");
  });
});
