import type { IncomingMessage } from "node:http";
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from "aws-lambda";
import { expect, it } from "vitest";
import { createLambdaReceiver, type LambdaRequest } from "../../src/adapters/aws-lambda/index.ts";
import { createDelivery } from "../signed-delivery.ts";
import { describeReceiver } from "./conformance.ts";
import { listen } from "./listen.ts";
import { collectProblems } from "./problems.ts";

const GATEWAY_LIMIT = 20_000;

async function readUpTo(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > GATEWAY_LIMIT) break;
  }
  return Buffer.concat(chunks);
}

type Wire = { rawHeaders: string[]; body: Buffer };

/** Builds payload version 2.0 as API Gateway does: lower-case names, repeated values joined. */
function versionTwo({ rawHeaders, body }: Wire, isBase64Encoded: boolean): LambdaRequest {
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = String(rawHeaders[index]).toLowerCase();
    const value = String(rawHeaders[index + 1]);
    headers[name] = name in headers ? `${headers[name]},${value}` : value;
  }
  const text = body.toString(isBase64Encoded ? "base64" : "utf8");
  return {
    version: "2.0",
    headers,
    body: text,
    isBase64Encoded,
  } as Partial<APIGatewayProxyEventV2>;
}

/** Builds payload version 1.0: names as sent, all values in `multiValueHeaders`, the last one in `headers`. */
function versionOne({ rawHeaders, body }: Wire): LambdaRequest {
  const headers: Record<string, string> = {};
  const multiValueHeaders: Record<string, string[]> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = String(rawHeaders[index]);
    const value = String(rawHeaders[index + 1]);
    headers[name] = value;
    multiValueHeaders[name] = [...(multiValueHeaders[name] ?? []), value];
  }
  const request: Partial<APIGatewayProxyEvent> = {
    headers,
    multiValueHeaders,
    body: body.toString("base64"),
    isBase64Encoded: true,
  };
  return request;
}

for (const [name, toLambdaRequest] of [
  ["version 1.0", versionOne],
  ["version 2.0, base64", (wire: Wire) => versionTwo(wire, true)],
] as const) {
  describeReceiver(`AWS Lambda, ${name}`, (options) => {
    const receive = createLambdaReceiver(options);
    // Acts as API Gateway, which reads the whole body and has its own limit.
    return listen(async (request, response) => {
      const announced = Number(request.headers["content-length"] ?? 0);
      const body =
        announced > GATEWAY_LIMIT ? Buffer.alloc(GATEWAY_LIMIT) : await readUpTo(request);
      const { rawHeaders } = request;
      const { statusCode, body: text } = await receive(toLambdaRequest({ rawHeaders, body }));
      response.writeHead(statusCode, { Connection: "close" }).end(text);
    });
  });
}

it("reads a text body as UTF-8, and refuses a body that a middleware parsed", async () => {
  const { problems, options } = collectProblems();
  const receive = createLambdaReceiver(options);
  const { body, headers } = await createDelivery();
  const text = body.toString();
  expect(await receive({ headers, body: text, isBase64Encoded: false })).toEqual({
    statusCode: 204,
    body: "",
  });
  const parsed = { headers, body: JSON.parse(text), isBase64Encoded: false };
  expect((await receive(parsed)).statusCode).toBe(500);
  expect(String(problems[0])).toContain("a middleware parsed event.body");
});
