import { headerOf } from "../harness-deliveries.ts";
import type { ReceivedRequest } from "../harness-receiver.ts";
import type { CrashStack } from "./harness-stack.ts";
import type { Party } from "./harness-writers.ts";

/** Returns the name of a request's attempt: the event's id and the attempt number, which the core also knows. */
export function nameOf(request: ReceivedRequest): string {
  return `${eventIdOf(request)} ${headerOf(request, "Service-Attempt")}`;
}

export function eventIdOf(request: ReceivedRequest): string {
  return headerOf(request, "Service-Event-Id");
}

export function requestsOf({ receiver }: CrashStack, { path }: Party): ReceivedRequest[] {
  return receiver.requests.filter(({ requestLine }) => requestLine.includes(path));
}

export async function listRecorded(stack: CrashStack): Promise<Set<string>> {
  const rows = await stack.query<{ event_id: string; attempt: number }>(
    `SELECT d.event_id, a.attempt FROM delivery_attempt a
     JOIN delivery d ON d.account_no = a.account_no AND d.id = a.delivery_id`,
  );
  return new Set(rows.map(({ event_id: eventId, attempt }) => `${eventId} ${attempt}`));
}

/** Removes each entry of `taken` from a list once. */
export function without(names: readonly string[], taken: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const name of taken) left.set(name, (left.get(name) ?? 0) + 1);
  return names.filter((name) => {
    const count = left.get(name) ?? 0;
    left.set(name, count - 1);
    return count <= 0;
  });
}
