/** One attempt sequence of a delivery: all that a workflow is told of it. */
export type Sequence = { readonly deliveryId: string; readonly sequence: number };

/** What `deliver` begins with: ids and numbers, never a URL, a secret or a payload. */
export type DeliverInput = Sequence & {
  /** The first attempt to make; 1 unless told. */
  readonly attempt?: number;
  /** How many times the core could not load it so far; 0 unless told. */
  readonly failedLoads?: number;
  /** How long to wait before it. */
  readonly waitMs?: number;
};

/** What `deliverTogether` begins with. */
export type DeliverTogetherInput = { readonly sequences: readonly Sequence[] };

/** Where the worker looks for work. */
export const TASK_QUEUE = "deliveries";

/** The names under which workflows are started. */
export const WorkflowName = { Deliver: "deliver", DeliverTogether: "deliverTogether" } as const;

/** Returns the id of the one workflow of a sequence: a second start of it changes nothing. */
export function deliverWorkflowId({ deliveryId, sequence }: Sequence): string {
  return `delivery-${deliveryId}-${sequence}`;
}
