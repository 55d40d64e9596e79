import {
  createServer,
  type IncomingMessage,
  METHODS,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FindClientAddress } from "@activity/runtime/client-address";
import type { Answers } from "./answer-request.ts";
import { errorResponse } from "./error-response.ts";
import type { GatewayResponse } from "./gateway-response.ts";
import type { GatewayLimits } from "./limits.ts";
import { createPipelines } from "./pipelines.ts";
import { writeRawResponse } from "./raw-response.ts";
import { faultOf, readRequestHead } from "./request-head.ts";
import { newRequestId } from "./request-id.ts";
import { forwardedForOf, type ParserError, refusalOf } from "./unreadable-request.ts";

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

/** Creates the HTTP server, which reads requests and writes their answers. It does not listen yet. */
export function createHttpServer(
  answers: Answers,
  findClientAddress: FindClientAddress,
  limits: GatewayLimits,
  isDraining: () => boolean,
): Server {
  const pipelines = createPipelines(limits.unansweredRequests);
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    maxHeaderSize: limits.headerBytes,
    // Node's refusal of a missing Host has no body and no request id, so `faultOf` refuses such a request instead.
    requireHostHeader: false,
    noDelay: true,
  });
  // 0 is no maximum. Beyond a maximum, Node drops headers silently or refuses the request, depending on its version.
  // `maxHeaderSize` limits their size instead.
  server.maxHeadersCount = 0;
  server.timeout = limits.stalledTimeoutMs;
  server.on("connection", endIfGone);
  server.on("request", exchange);
  // A request with `Expect` gets the final answer at once, without an interim one.
  server.on("checkContinue", exchange);
  server.on("checkExpectation", exchange);
  server.on("connect", (request, socket) => void refuseConnect(request, socket));
  // The connections that were refused. After an error, the parser reports the same error for each further piece of the
  // request.
  const refused = new WeakSet<Duplex>();
  server.on("clientError", (error: Error & ParserError, socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    void refuse(error, socket);
  });
  return server;

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The head was late and is now complete, but its refusal is already being sent.
    if (refused.has(request.socket)) return;
    const head = readRequestHead(request.rawHeaders);
    if (head.hasBody) drainBody(request, limits.bodyBytes);
    if (!(await pipelines.takeTurn(request, response))) return;
    const gone = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    const requestId = newRequestId();
    const clientAddress = findClientAddress(request.socket.remoteAddress ?? "", head.forwardedFor);
    const { method = "", url: target = "", httpVersion } = request;
    const { authorization, prefer } = head;
    const { signal } = gone;
    const read = { requestId, method, target, authorization, prefer, clientAddress, signal };
    const fault = faultOf(head, httpVersion);
    const answer =
      fault === undefined
        ? await answers.answerRequest(read)
        : await answers.answerUnreadable(read, malformed(requestId, fault));
    if (!signal.aborted) {
      // After a request with `Upgrade`, node:http may drop bytes of the next request. If the connection closes, the
      // client knows that it must repeat that request.
      const closes =
        fault !== undefined || head.expectsContinue || head.asksUpgrade || isDraining();
      writeResponse(response, answer, closes);
    }
  }

  async function refuseConnect(request: IncomingMessage, socket: Duplex): Promise<void> {
    const { authorization, forwardedFor } = readRequestHead(request.rawHeaders);
    // After CONNECT, node:http no longer handles timeouts. This timeout cuts a client that never reads the earlier
    // answer.
    request.socket.setTimeout(limits.stalledTimeoutMs, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    await pipelines.lastAnswer(socket);
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    await answerRaw(socket, request.socket.remoteAddress, forwardedFor, (caller) =>
      answers.answerRequest({
        ...caller,
        method: request.method ?? "",
        target: request.url ?? "",
        ...{ authorization, prefer: [] },
      }),
    );
  }

  async function refuse(error: ParserError, socket: Duplex): Promise<void> {
    const last = await pipelines.lastAnswer(socket);
    const { remoteAddress, bytesRead } = socket as Socket; // node:http passes the connection's Socket.
    // No answer is due: the error is in the body of a request that was answered already, or the client opened a
    // connection and sent nothing.
    if (!socket.writable || last?.req.complete === false || bytesRead === 0) {
      socket.destroy();
      return;
    }
    await answerRaw(socket, remoteAddress, forwardedForOf(error), (caller) =>
      answers.answerUnreadable(caller, refusalOf(error, caller.requestId, KNOWN_METHODS)),
    );
  }

  /** Answers on a connection that node:http no longer handles. */
  async function answerRaw(
    socket: Duplex,
    remoteAddress: string | undefined,
    forwardedFor: readonly string[],
    answer: (caller: {
      requestId: string;
      clientAddress: string;
      signal: AbortSignal;
    }) => Promise<GatewayResponse>,
  ): Promise<void> {
    const gone = new AbortController();
    socket.on("error", () => socket.destroy());
    socket.once("close", () => gone.abort());
    const response = await answer({
      requestId: newRequestId(),
      clientAddress: findClientAddress(remoteAddress ?? "", forwardedFor),
      signal: gone.signal,
    });
    if (socket.writable) writeRawResponse(socket, response, STATUS_CODES[response.status] ?? "");
  }
}

/**
 * Destroys a connection that its client reset before the gateway accepted it, as in a flood. Its request is not read,
 * so other clients wait less. ADR 0030
 */
function endIfGone(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
}

function malformed(requestId: string, message: string): GatewayResponse {
  return errorResponse("invalid_request", requestId, { message });
}

/**
 * Reads and ignores a body, so that the connection can serve its next request. Cuts the connection after `maxBytes`.
 */
function drainBody(request: IncomingMessage, maxBytes: number): void {
  let drained = 0;
  request.on("data", (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > maxBytes) request.socket.destroy();
  });
  request.on("error", () => undefined);
}

function writeResponse(response: ServerResponse, answer: GatewayResponse, close: boolean): void {
  const headers = [...answer.headers];
  const { body } = answer;
  if (body !== undefined) headers.push("Content-Length", String(Buffer.byteLength(body)));
  if (close) headers.push("Connection", "close");
  response.writeHead(answer.status, headers);
  // node:http omits the body of an answer to HEAD.
  response.end(body);
}
