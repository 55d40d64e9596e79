import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { QUIET } from "../../test/harness/quiet.ts";
import { createGateway, type Gateway } from "./app.ts";
import { sendRaw } from "./testing/raw-connection.ts";
import { createRouterCore, type RouterCore } from "./testing/router-core.ts";

const REQUEST = "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n";

let core: RouterCore;
let gateway: Gateway;
let port: number;
/** Each function ends one call to the core. */
let held: (() => void)[];
let inFlight: number;
let mostInFlight: number;
beforeEach(async () => {
  core = createRouterCore();
  held = [];
  inFlight = 0;
  mostInFlight = 0;
  core.before = async () => {
    mostInFlight = Math.max(mostInFlight, ++inFlight);
    await new Promise<void>((resolve) => held.push(resolve));
    inFlight -= 1;
  };
  gateway = createGateway({ upstream: core.transport, log: QUIET });
  ({ port } = await gateway.listen(0, "127.0.0.1"));
});
afterEach(() => gateway.close());

/** Sends `count` requests at once, and ends the calls to the core one by one. Returns the number of answers. */
async function pipeline(count: number): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  const answering = setInterval(() => held.shift()?.(), 1);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
    if (text.split("HTTP/1.1 404").length > count) socket.end();
  });
  socket.on("error", () => undefined);
  socket.write(REQUEST.repeat(count));
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(answering);
  return text.split("HTTP/1.1 404").length - 1;
}

describe("ADR 0030: of the requests that a connection sends without waiting for answers", () => {
  it("one is in flight at a time, and up to 16 are all answered", async () => {
    expect(await pipeline(16)).toBe(16);
    expect([core.calls.length, mostInFlight]).toEqual([16, 1]);
  });

  it.each([17, 20_000])("%i end the connection, and waiting ones make no call", async (count) => {
    expect(await pipeline(count)).toBe(0);
    for (const answer of held) answer();
    await new Promise(setImmediate);
    expect(core.calls.length).toBeLessThanOrEqual(1);
  });

  it("CONNECT is answered after those before it", async () => {
    const answers = sendRaw(port, `${REQUEST}CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n`);
    await expect.poll(() => held.length).toBe(1);
    await new Promise(setImmediate);
    expect(core.calls).toHaveLength(1);
    const answering = setInterval(() => held.shift()?.(), 1);
    const text = await answers;
    clearInterval(answering);
    expect(text.match(/HTTP\/1.1 404|connection: close/gi)).toEqual([
      "HTTP/1.1 404",
      "HTTP/1.1 404",
      "Connection: close",
    ]);
  });

  it("waiting ones make no call once the client has left", async () => {
    const socket = connect(port, "127.0.0.1", () => socket.write(REQUEST.repeat(10)));
    await expect.poll(() => held.length).toBe(1);
    const aborted = once(core.calls[0]?.signal ?? new EventTarget(), "abort");
    socket.destroy();
    await aborted;
    for (const answer of held) answer();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(core.calls).toHaveLength(1);
  });
});
