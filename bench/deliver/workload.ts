import type { Clients } from "../../tools/stack/demo.ts";
import { concurrently, type Target } from "../stack/targets.ts";

/** Commits events to the targets in turn; returns their deliveries' ids. */
export async function writeEvents(
  { endpoints }: Clients,
  targets: readonly Target[],
  count: number,
): Promise<string[]> {
  const turns = Array.from({ length: count }, (_, index) => targets[index % targets.length]);
  return concurrently(turns, async (target) => {
    if (target === undefined) throw new Error("there is nobody to write to");
    return (await endpoints.sendTest(target)).deliveryId;
  });
}
