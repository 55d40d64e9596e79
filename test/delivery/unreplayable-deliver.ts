import { sleep } from "@temporalio/workflow";

/** A workflow with the name `deliver` that begins with a timer. The product's `deliver` begins with an attempt. */
export async function deliver(): Promise<void> {
  await sleep("1 hour");
}
