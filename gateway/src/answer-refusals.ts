import { clientBucket } from "@activity/runtime/client-bucket";
import { delayRefusal, type RefusedClients } from "@activity/runtime/refused-clients";
import type { Answers } from "./answer-request.ts";
import { errorResponse } from "./error-response.ts";
import type { UnreadableRequest } from "./gateway-request.ts";
import type { GatewayResponse } from "./gateway-response.ts";

/**
 * Refuses a client without a call to the core while the core's refusal of it lasts. Delays each of these answers by
 * `delayMs`, or until the client hangs up, so that a flood leaves processor time to others. ADR 0030
 */
export function refuseKnownClients(
  answers: Answers,
  refused: RefusedClients,
  delayMs: number,
): Answers {
  async function orRefusal(
    { requestId, clientAddress, signal }: UnreadableRequest,
    answer: () => Promise<GatewayResponse>,
  ): Promise<GatewayResponse> {
    const client = clientBucket(clientAddress);
    if (refused.untilMs(client) !== undefined) {
      await delayRefusal(delayMs, signal);
      return errorResponse("rate_limit_exceeded", requestId);
    }
    const askedMs = performance.now();
    const response = await answer();
    const { clientRefusedForMs } = response;
    if (clientRefusedForMs !== undefined) refused.note(client, askedMs + clientRefusedForMs);
    return response;
  }

  return {
    answerRequest: (request) => orRefusal(request, () => answers.answerRequest(request)),
    answerUnreadable: (request, refusal) =>
      orRefusal(request, () => answers.answerUnreadable(request, refusal)),
  };
}
