import type { Metrics } from "@activity/runtime/metrics";
import type { Answers } from "./answer-request.ts";
import type { GatewayResponse } from "./gateway-response.ts";
import { routeName } from "./router.ts";

/**
 * Counts answers by route and status, and measures how long each takes to make. The measured time does not include a
 * wait for a record.
 */
export function countAnswers(answers: Answers, metrics: Metrics): Answers {
  const count = metrics.histogram(
    "activity_gateway_request_duration_seconds",
    "Requests that the gateway answered.",
    ["route", "code"],
  );

  async function counted(
    route: string,
    answering: Promise<GatewayResponse>,
  ): Promise<GatewayResponse> {
    const startedMs = performance.now();
    const response = await answering;
    const tookMs = performance.now() - startedMs - (response.waitedMs ?? 0);
    count(tookMs / 1000, route, String(response.status));
    return response;
  }

  return {
    answerRequest: (request) => counted(routeName(request.target), answers.answerRequest(request)),
    answerUnreadable: (request, refusal) =>
      counted("other", answers.answerUnreadable(request, refusal)),
  };
}
