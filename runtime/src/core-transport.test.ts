import { createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { DispatchService } from "@activity/proto";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { listenLocally } from "../../test/harness/listening.ts";
import { connectToCore } from "./core-transport.ts";

const CREDENTIAL = {
  revealCredential: () => "credential",
  credentialHeader: ["authorization", "Bearer "],
} as const;
/** A request longer than a socket buffers, so that the connection is cut during the write. */
const LONG = { attempts: [{ responseBody: new Uint8Array(2_000_000) }] };

it.each([
  ["at once", (socket: Socket) => void socket.destroy()],
  ["with a reset", (socket: Socket) => void socket.resetAndDestroy()],
  [
    "in the middle of the request",
    (socket: Socket) => void socket.once("data", () => socket.destroy()),
  ],
  [
    "a moment later",
    (socket: Socket) => void socket.on("data", () => wait(1).then(() => socket.destroy())),
  ],
  [
    "in the middle of the answer",
    (socket: Socket) =>
      void socket.on("data", () =>
        socket.end(
          "HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: 9\r\n\r\nx",
        ),
      ),
  ],
])(
  "a call whose connection the core cuts %s fails as Unavailable. ADR 0028",
  async (_when, cut) => {
    const core = createServer((socket) => {
      socket.on("error", () => undefined);
      cut(socket);
    });
    const coreUrl = `http://127.0.0.1:${await listenLocally(core)}`;
    const { transport, close } = connectToCore({ coreUrl, coreTls: {}, ...CREDENTIAL });
    const dispatch = createClient(DispatchService, transport);
    const codes = new Set<string>();
    for (let call = 0; call < 20; call++) {
      await dispatch.recordAttempts(LONG).catch((error: unknown) => {
        codes.add(Code[ConnectError.from(error).code] ?? "");
      });
    }
    expect([...codes]).toEqual(["Unavailable"]);
    close();
    core.close();
  },
);

it("a call that cannot be sent, because TLS accepts no certificate, fails as Unavailable with its cause", async () => {
  const { transport, close } = connectToCore({
    coreUrl: "https://127.0.0.1:1",
    coreTls: { cert: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----" },
    ...CREDENTIAL,
  });
  const call = createClient(DispatchService, transport).recordAttempts({});
  const failure = await call.catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: Code.Unavailable, cause: expect.any(Error) });
  close();
});
