import { AdmissionService } from "@activity/proto";
import { installTracer, type SpanAttributes, type Tracer } from "@activity/runtime/traces";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createCallSpans } from "./call-spans.ts";

/** Makes a call that fails with `code`. Returns the attributes that its span got. */
async function attributesOf(code: Code): Promise<SpanAttributes[]> {
  const attributes: SpanAttributes[] = [];
  const span = { traceparent: undefined, set: (more: SpanAttributes) => attributes.push(more) };
  const inSpan = (_name: string, _options: object, work: (given: typeof span) => unknown) =>
    work(span);
  // Call spans use no more of a tracer.
  const remove = installTracer({ inSpan } as unknown as Tracer);
  const router = { interceptors: [createCallSpans()] };
  const transport = createRouterTransport(
    ({ service }) => {
      service(AdmissionService, { admitClient: () => Promise.reject(new ConnectError("x", code)) });
    },
    { router },
  );
  const call = createClient(AdmissionService, transport).admitClient({});
  await expect(call).rejects.toThrow(ConnectError);
  remove();
  return attributes;
}

it.each([
  [Code.NotFound, "not_found"],
  [Code.Internal, "internal"],
  [Code.Canceled, "cancelled"],
])(
  "the span of a call that failed with code %i has OpenTelemetry's name for it: %s",
  async (code, name) => {
    expect(await attributesOf(code)).toEqual([{ "rpc.connect_rpc.error_code": name }]);
  },
);
