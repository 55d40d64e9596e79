import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** What each connection was asked and has not answered yet. */
export type Pipelines = {
  /**
   * Takes a request in, and resolves when all before it on its connection are answered. Resolves
   * with false when the connection has ended or was cut for holding too many.
   */
  takeTurn(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Resolves with the last answer of a connection, if it had any, when it is given. */
  lastAnswer(socket: Duplex): Promise<ServerResponse | undefined>;
};

type Pipeline = { last: ServerResponse; unanswered: number };

/** Lets each connection have one request answered at a time and `maxUnanswered` waiting, that one included. */
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
      // One packet can hold thousands, and node:http reads them all before it can be told to stop.
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
