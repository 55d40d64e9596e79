import { headerOf } from "../harness-deliveries.ts";
import type { ReceivedRequest } from "../harness-receiver.ts";
import type { CrashStack } from "./harness-stack.ts";
import type { Party } from "./harness-writers.ts";

/** An attempt as the receiver and the core both know it: the event's id and its number. */
export type AttemptName = string;

/** Returns the attempt that a request was. */
export function nameOf(request: ReceivedRequest): AttemptName {
  return `${eventIdOf(request)} ${headerOf(request, "Service-Attempt")}`;
}

/** Returns the id of the event that a request told. */
export function eventIdOf(request: ReceivedRequest): string {
  return headerOf(request, "Service-Event-Id");
}

/** What a party's endpoints received. */
export function requestsOf({ receiver }: CrashStack, { path }: Party): ReceivedRequest[] {
  return receiver.requests.filter(({ requestLine }) => requestLine.includes(path));
}

/** Lists the attempts on record, of all accounts. */
export async function listRecorded(stack: CrashStack): Promise<Set<AttemptName>> {
  const rows = await stack.query<{ event_id: string; attempt: number }>(
    `SELECT d.event_id, a.attempt FROM delivery_attempt a
     JOIN delivery d ON d.account_no = a.account_no AND d.id = a.delivery_id`,
  );
  return new Set(rows.map(({ event_id: eventId, attempt }) => `${eventId} ${attempt}`));
}

/** The attempts that reached the receiver and are not among the recorded ones: in flight. */
export function inFlightOf(
  requests: readonly ReceivedRequest[],
  recorded: ReadonlySet<AttemptName>,
): AttemptName[] {
  return [...new Set(requests.map(nameOf))].filter((name) => !recorded.has(name));
}

/** Names the attempts that were made more than once, each as often as it was made again. */
export function duplicatesOf(requests: readonly ReceivedRequest[]): AttemptName[] {
  return without(requests.map(nameOf), [...new Set(requests.map(nameOf))]);
}

/** What is left of a list when each entry of another has taken away one like it. */
export function without(names: readonly string[], taken: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const name of taken) left.set(name, (left.get(name) ?? 0) + 1);
  return names.filter((name) => {
    const count = left.get(name) ?? 0;
    left.set(name, count - 1);
    return count <= 0;
  });
}

/** Lists the events whose requests are not all the same bytes. */
export function differingOf(requests: readonly ReceivedRequest[]): string[] {
  return [...Map.groupBy(requests, eventIdOf)].flatMap(([id, [first, ...others]]) =>
    others.every(({ body }) => first?.body.equals(body)) ? [] : [id],
  );
}
