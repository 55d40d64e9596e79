/** Does nothing. It shows the cost of a workflow in Temporal itself. */
export async function empty(): Promise<void> {}
