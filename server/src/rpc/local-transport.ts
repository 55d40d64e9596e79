import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextValues,
  type HandlerContext,
  type Interceptor,
  type Transport,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import { inProcessKey } from "../admission/caller.ts";
import type { RegisteredService } from "./registered-service.ts";

type Call = (message: Message, context: HandlerContext) => Promise<Message> | Message;
/** No unary service of the core sends trailers. */
const NO_TRAILER = new Headers();

type Handler = (request: UnaryRequest) => Promise<UnaryResponse>;

/**
 * Creates a transport that calls the services as functions, through the same interceptors as the wire and
 * without serializing anything. It carries unary calls, which is all a gateway makes.
 */
export function createLocalTransport(
  services: readonly RegisteredService[],
  interceptors: readonly Interceptor[],
): Transport {
  const handlers = new Map<DescMethodUnary, Handler>();
  for (const { service, implementation } of services) {
    for (const method of service.methods) {
      if (method.methodKind !== "unary") continue;
      const call = implementation[method.localName] as Call;
      handlers.set(
        method as DescMethodUnary,
        intercepted(interceptors, (request) => answer(service, request, call)),
      );
    }
  }

  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const handler = handlers.get(method);
      if (handler === undefined) throw new ConnectError(method.name, Code.Unimplemented);
      const deadline = createDeadline(signal, timeoutMs);
      const request: UnaryRequest = {
        stream: false,
        service: method.parent,
        method,
        requestMethod: "POST",
        url: `local:///${method.parent.typeName}/${method.name}`,
        signal: deadline.signal,
        header: new Headers(header),
        contextValues: trusted(contextValues),
        message: messageFrom(method.input, input),
      };
      try {
        // The handler is the one registered for this very method, so its output is the method's.
        return (await Promise.race([handler(request), deadline.expired])) as never;
      } finally {
        deadline.clear();
      }
    },
    async stream(method) {
      throw new ConnectError(`${method.name} is a stream`, Code.Unimplemented);
    },
  };
}

function intercepted(interceptors: readonly Interceptor[], handler: Handler): Handler {
  // Interceptors are typed for unary and streaming calls at once; only unary ones come through here.
  return interceptors.reduceRight(
    (next, interceptor) => interceptor(next as never) as Handler,
    handler,
  );
}

async function answer(
  service: DescService,
  request: UnaryRequest,
  call: Call,
): Promise<UnaryResponse> {
  // Built here, because Connect's own maker of contexts costs ten times as much: it links two more abort
  // signals and copies every header.
  const context: HandlerContext = {
    service,
    method: request.method,
    protocolName: "local",
    requestMethod: request.requestMethod,
    url: request.url,
    signal: request.signal,
    timeoutMs: () => undefined,
    requestHeader: request.header,
    responseHeader: new Headers(),
    responseTrailer: NO_TRAILER,
    values: request.contextValues,
  };
  const message = await call(request.message, context);
  return {
    stream: false,
    service,
    method: request.method,
    header: context.responseHeader,
    trailer: context.responseTrailer,
    message: messageFrom(request.method.output, message),
  };
}

/** Services may answer with a finished message or with its fields; finished ones are passed on as they are. */
function messageFrom<Schema extends DescMessage>(schema: Schema, init: MessageInitShape<Schema>) {
  return "$typeName" in init ? (init as never) : create(schema, init);
}

function trusted(values: ContextValues = createContextValues()): ContextValues {
  return values.set(inProcessKey, true);
}

/** A deadline as the wire has it: past `timeoutMs` the caller gets DEADLINE_EXCEEDED. */
function createDeadline(signal: AbortSignal | undefined, timeoutMs: number | undefined) {
  const controller = new AbortController();
  const { promise: expired, reject } = Promise.withResolvers<never>();
  expired.catch(() => {});
  const end = (reason: ConnectError) => {
    controller.abort(reason);
    reject(reason);
  };
  const cancel = () => end(new ConnectError("the caller went away", Code.Canceled));
  signal?.addEventListener("abort", cancel, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => end(new ConnectError("too late", Code.DeadlineExceeded)), timeoutMs);
  return {
    signal: controller.signal,
    expired,
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    },
  };
}
