import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type HandlerContext,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
} from "@connectrpc/connect";
import type { RegisteredService } from "./registered-service.ts";
import { contextOf, messageFrom } from "./unary-handlers.ts";

type Answer = (
  message: unknown,
  context: HandlerContext,
) => AsyncIterable<MessageInitShape<DescMessage>>;

/** Calls a server-streaming method of this process through the interceptors. */
export function callLocalStream(
  { implementation }: RegisteredService,
  interceptors: readonly Interceptor[],
  request: StreamRequest,
): Promise<StreamResponse> {
  const call = implementation[request.method.localName] as Answer;
  const answer = async (sent: StreamRequest): Promise<StreamResponse> => {
    const context = contextOf(sent, "local");
    return {
      stream: true,
      service: sent.service,
      method: sent.method,
      header: context.responseHeader,
      trailer: context.responseTrailer,
      message: messages(sent, (message) => call(message, context)),
    };
  };
  // Casts, because interceptors have one type for unary and streaming calls. Only streams come through here.
  const through = interceptors.reduceRight<typeof answer>(
    (next, interceptor) => interceptor(next as never) as typeof answer,
    answer,
  );
  return through(request);
}

async function* messages(
  { method, message }: StreamRequest,
  answer: (message: unknown) => ReturnType<Answer>,
) {
  for await (const sent of message) {
    for await (const one of answer(sent)) yield messageFrom(method.output, one);
    return;
  }
  throw new ConnectError(`${method.name} received no message`, Code.InvalidArgument);
}
