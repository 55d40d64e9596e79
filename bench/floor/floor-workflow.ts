/** Does nothing: what Temporal takes for a workflow, whatever it is for. */
export async function empty(): Promise<void> {}
