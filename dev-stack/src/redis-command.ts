import { connect } from "node:net";
import { LOOPBACK } from "./free-port.ts";
import { StackError } from "./stack-error.ts";

const ANSWER_MILLISECONDS = 5000;

/**
 * Sends one command to the Redis-like server on a port of loopback. Resolves with its reply as the protocol writes it,
 * and rejects where that is an error.
 */
export function sendRedisCommand(port: number, ...words: (string | number)[]): Promise<string> {
  const command = words.map((word) => `$${Buffer.byteLength(`${word}`)}\r\n${word}\r\n`).join("");
  return new Promise((resolve, reject) => {
    let said = "";
    const fail = (reason: string) => {
      socket.destroy();
      reject(new StackError(`Redis did not do ${words.slice(0, 2).join(" ")}: ${reason}.`));
    };
    const socket = connect({ host: LOOPBACK, port });
    socket.setTimeout(ANSWER_MILLISECONDS, () => fail("it says nothing"));
    socket.on("error", ({ message }) => fail(message));
    // What follows tells where the reply ends.
    socket.on("connect", () => socket.write(`*${words.length}\r\n${command}QUIT\r\n`));
    socket.on("data", (part) => {
      said += part.toString("latin1");
    });
    socket.on("end", () => {
      if (said.startsWith("-")) fail(said.split("\r\n", 1).join());
      else if (!said.endsWith(QUIT_REPLY)) fail("it closed the connection");
      else resolve(said.slice(0, -QUIT_REPLY.length));
    });
  });
}

const QUIT_REPLY = "+OK\r\n";
