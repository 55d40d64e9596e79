import { type ClientName, OPEN_BY_CLIENT } from "./kinds.ts";

/** The lease of the claim. It is long enough for the test to check during the lease, even on a busy machine. */
const LEASE_SECONDS = 3;

// Claims an event and works on it until this process is killed.
const [client = "", url = "", eventId = "", kind = ""] = process.argv.slice(2);
const store = await OPEN_BY_CLIENT[client as ClientName](url);
const once =
  kind === "lease"
    ? store.createStore({ leaseSeconds: LEASE_SECONDS })
    : store.createTransactionStore?.();
await once?.runOnce(eventId, async (context) => {
  if (kind === "transaction") await store.leaveTrace?.(context, eventId);
  process.stdout.write("working\n");
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
