import { sleep } from "@temporalio/workflow";

/** A workflow of the name `deliver` that begins with a timer, where the product's begins with an attempt. */
export async function deliver(): Promise<void> {
  await sleep("1 hour");
}
