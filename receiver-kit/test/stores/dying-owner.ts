import { type ClientName, OPEN_BY_CLIENT } from "./kinds.ts";

// Claims an event and works on it until this process is killed.
const [client = "", url = "", eventId = "", leaseSeconds = "1", kind = "lease"] =
  process.argv.slice(2);
const store = await OPEN_BY_CLIENT[client as ClientName](url);
const once =
  kind === "lease"
    ? store.createStore({ leaseSeconds: Number(leaseSeconds) })
    : store.createTransactionStore?.();
await once?.runOnce(eventId, async (context) => {
  if (kind === "transaction") await store.leaveTrace?.(context, eventId);
  process.stdout.write("working\n");
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
