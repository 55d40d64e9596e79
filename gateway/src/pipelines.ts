import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** The unanswered requests of each connection. */
export type Pipelines = {
  /**
   * Resolves with true once all earlier requests of the connection are answered. Resolves with false if the connection
   * has ended, or was cut because it has too many unanswered requests.
   */
  takeTurn(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Resolves with the connection's last answer, if any, once it is sent. */
  lastAnswer(socket: Duplex): Promise<ServerResponse | undefined>;
};

type Pipeline = { last: ServerResponse; unanswered: number };

/** Answers one request of a connection at a time. At most `maxUnanswered` may be unanswered, including that one. */
export function createPipelines(maxUnanswered: number): Pipelines {
  const pipelines = new WeakMap<Duplex, Pipeline>();

  return {
    async takeTurn({ socket }, response) {
      const pipeline = pipelines.get(socket) ?? { last: response, unanswered: 0 };
      const before = pipeline.last;
      pipelines.set(socket, pipeline);
      pipeline.last = response;
      pipeline.unanswered += 1;
      response.once("close", () => {
        pipeline.unanswered -= 1;
      });
      // Cuts the connection, because one packet can hold thousands of requests, and node:http cannot be stopped between
      // them.
      if (pipeline.unanswered > maxUnanswered) socket.destroy();
      else if (before !== response) await untilClosed(before);
      return socket.writable;
    },
    async lastAnswer(socket) {
      const last = pipelines.get(socket)?.last;
      if (last !== undefined) await untilClosed(last);
      return last;
    },
  };
}

async function untilClosed(response: ServerResponse): Promise<void> {
  if (!response.closed) await new Promise<void>((resolve) => response.once("close", resolve));
}
