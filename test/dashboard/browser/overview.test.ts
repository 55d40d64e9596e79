import { expect, it } from "vitest";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { createApiKey } from "../../harness/builders.ts";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage();

it("the overview leads a new owner from a key to the first delivered event, then the list goes", async () => {
  const hasText = "This list disappears when every step is done.";
  const steps = own.page.locator("section").filter({ hasText });
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
