import {
  createRefusedClients,
  delayRefusal,
  REFUSAL_DELAY_MS,
} from "@activity/runtime/refused-clients";
import { type AdmissionRequest, type AdmissionResult, CLIENT_LIMIT } from "./admission.ts";

type Count = (request: AdmissionRequest) => Promise<AdmissionResult>;

/**
 * Refuses a request without counting it if the count would refuse it, so that its client does not fill the queue. This
 * applies to a client that was refused, until its oldest admission leaves the window. It also applies to a client with
 * as many waiting requests as its limit. Both refusals are delayed. `nowMs` is a clock that never steps. ADR 0030
 */
export function refuseEarly(count: Count, nowMs: () => number): Count {
  const refused = createRefusedClients(nowMs);
  /** How many requests of each client wait for their count. */
  const waiting = new Map<string, number>();

  return async (request) => {
    const untilMs = refused.untilMs(request.client);
    const client = request.client.toString("latin1");
    const before = waiting.get(client) ?? 0;
    if (untilMs !== undefined || before >= CLIENT_LIMIT) {
      await delayRefusal(REFUSAL_DELAY_MS, request.signal);
      return { kind: "client_refused", untilMs };
    }
    waiting.set(client, before + 1);
    try {
      const result = await count(request);
      if (result.kind === "client_refused" && result.untilMs !== undefined) {
        refused.note(request.client, result.untilMs);
      }
      return result;
    } finally {
      const left = (waiting.get(client) ?? 1) - 1;
      if (left === 0) waiting.delete(client);
      else waiting.set(client, left);
    }
  };
}
