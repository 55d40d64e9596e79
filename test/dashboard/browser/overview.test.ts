import { expect, it } from "vitest";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { createApiKey, createPaidDonation } from "../../harness/builders.ts";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage();
const section = (name: string) => own.page.locator("section").filter({ hasText: name });

it("a new owner is led from a key to the first delivered event, and the list goes", async () => {
  const steps = section("This list goes once every step is done.");
  const open = () => steps.getByRole("listitem").filter({ hasText: "To do:" });
  await expect.poll(() => open().count()).toBe(4);
  await steps.getByRole("link", { name: "Create a key" }).waitFor();
  await createApiKey(own.stack, own.accountId);
  await own.page.reload();
  await steps.getByRole("link", { name: "Create an endpoint" }).waitFor();
  own.delivery.receiver.behaviour = answer(401);
  const { endpointId } = await own.createEndpoint();
  await own.page.reload();
  await steps.getByRole("link", { name: "Open the endpoint" }).waitFor();
  await own.sendTest(endpointId);
  await steps.getByText("Set the signing secret as WEBHOOK_SECRET").waitFor();
  await steps.getByRole("link", { name: "Show what happened" }).waitFor();
  expect(await open().count()).toBe(1);
  own.delivery.receiver.behaviour = answer(200);
  await own.sendTest(endpointId);
  await steps.waitFor({ state: "detached" });
});

it("an owner sees a donation at once", async () => {
  await own.see("Nothing happened yet");
  await createPaidDonation(own.stack, own.accountId, { donorName: "Ada" });
  await own.row("Ada").getByText("€5.00").waitFor();
});
