import { connect } from "node:net";
import { LOOPBACK } from "./free-port.ts";

const ANSWER_MILLISECONDS = 1000;

/** Tells whether a Redis-like server on loopback answers a ping. */
export function isRedisAnswering(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port });
    const end = (isAnswering: boolean) => {
      socket.destroy();
      resolve(isAnswering);
    };
    socket.setTimeout(ANSWER_MILLISECONDS, () => end(false));
    socket.on("error", () => end(false));
    socket.on("end", () => end(false));
    socket.on("connect", () => socket.write("PING\r\n"));
    socket.on("data", (answer: Buffer) => end(answer.toString("latin1").startsWith("+PONG")));
  });
}
