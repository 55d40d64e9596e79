import { inSpan } from "@activity/runtime/traces";
import type { Answers } from "./answer-request.ts";
import type { GatewayResponse } from "./gateway-response.ts";
import { routeName } from "./router.ts";

/**
 * The methods that a span names. It names any other one `_OTHER`, as in OpenTelemetry, because clients can invent
 * methods without limit.
 */
const METHODS: ReadonlySet<string> = new Set([
  ...["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE"],
]);

/**
 * Makes a span of each answer. The span begins a new trace and ignores the client's trace headers. They would decide
 * what is sampled here, although the client cannot see these traces.
 */
export function traceAnswers(answers: Answers): Answers {
  function traced(
    method: string,
    route: string,
    answer: () => Promise<GatewayResponse>,
  ): Promise<GatewayResponse> {
    const attributes = { "http.request.method": method, "http.route": route };
    const options = { kind: "server", begins: true, attributes } as const;
    return inSpan(`${method} ${route}`, options, async (span) => {
      const response = await answer();
      span.set({ "http.response.status_code": response.status });
      if (response.waitedMs !== undefined)
        span.set({ "activity.waited_ms": Math.round(response.waitedMs) });
      if (response.status >= 500) span.fail();
      return response;
    });
  }

  return {
    answerRequest(request) {
      const method = METHODS.has(request.method) ? request.method : "_OTHER";
      return traced(method, routeName(request.target), () => answers.answerRequest(request));
    },
    answerUnreadable: (request, refusal) =>
      traced("_OTHER", "other", () => answers.answerUnreadable(request, refusal)),
  };
}
