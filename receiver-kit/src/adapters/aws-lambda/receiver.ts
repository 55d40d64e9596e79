import { createReceive } from "../../receiver/receive.ts";
import type { ReceiverOptions } from "../../receiver/receiver-options.ts";
import type { HeadersInput } from "../../signed-headers.ts";
import { type LambdaBody, readRawBody } from "./raw-body.ts";

type Multi<Value> = Readonly<Record<string, Value | undefined>> | null | undefined;

/** The part of an HTTP event that the receiver uses. The payload version is 1.0 or 2.0. */
export interface LambdaRequest extends LambdaBody {
  readonly headers?: Multi<string>;
  /** Version 1.0 only: every value of each header. */
  readonly multiValueHeaders?: Multi<string[]>;
}

/** The answer for API Gateway, function URLs and load balancers. */
export interface LambdaResponse {
  readonly statusCode: number;
  readonly body: string;
}

/** Creates a Lambda handler for API Gateway (both payload versions), function URLs and ALB. */
export function createLambdaReceiver<Context>(
  options: ReceiverOptions<Context>,
): (request: LambdaRequest) => Promise<LambdaResponse> {
  const receive = createReceive(options);
  return async (request) => {
    const headers: HeadersInput = request.multiValueHeaders ?? request.headers ?? {};
    const statusCode = await receive(headers, (limitBytes) => readRawBody(request, limitBytes));
    return { statusCode, body: "" };
  };
}
