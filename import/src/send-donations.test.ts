import { AccountService, ImportService, Platform } from "@activity/proto";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { sendDonations } from "./send-donations.ts";

it("fails if the core ends the call before it has answered each batch", async () => {
  const transport = createRouterTransport(({ service }) => {
    service(ImportService, {
      async *importDonations(requests) {
        let steps = 0;
        for await (const _ of requests) {
          steps += 1;
          if (steps === 2) yield {};
          if (steps === 3) return;
        }
      },
    });
  });
  const accounts = createClient(AccountService, transport);
  const core = { coreUrl: "", accounts, imports: createClient(ImportService, transport) };
  const batches = (async function* () {
    for (let sent = 0; sent < 3; sent += 1) yield { donations: [], rows: [] };
  })();
  const opening = { accountId: "", platform: Platform.UNSPECIFIED };
  await expect(sendDonations(core, opening, batches, async () => {})).rejects.toThrow(
    "The core ended the import before it had answered everything.",
  );
});
