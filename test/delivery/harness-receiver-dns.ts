import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";

const TYPE_A = 1;
const TYPE_AAAA = 28;
const HEADER_LENGTH = 12;
const NXDOMAIN = 3;
/** The time to live of answers. It is long, so that a test notices if a client caches an answer. */
const TTL_SECONDS = 3_600;

/** A name that contains "slow" gets its IPv4 address this long after the first question. */
const SLOW_MS = 1_500;

/** A DNS server on loopback with one answer to every question. */
export type DnsServer = Awaited<ReturnType<typeof startDnsServer>>;

/** Starts a DNS server that knows no name yet. */
export async function startDnsServer() {
  const socket = createSocket("udp4");
  let questions = 0;
  const slowSinceMs = new Map<string, number>();
  socket.on("message", (query, peer) => {
    questions += 1;
    const family = typeOf(query) === TYPE_AAAA ? 6 : 4;
    if (family === server.silentOn) return;
    const send = () => socket.send(answerTo(query, server), peer.port, peer.address);
    const name = query.toString("latin1", HEADER_LENGTH, query.indexOf(0, HEADER_LENGTH));
    if (!name.includes("slow") || family === 6) return send();
    // Acts as a server that asks other servers: once it knows the name, it answers all questions.
    const sinceMs = slowSinceMs.get(name) ?? performance.now();
    slowSinceMs.set(name, sinceMs);
    setTimeout(send, Math.max(0, sinceMs + SLOW_MS - performance.now()));
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const server = {
    /** The server's address in the form that `Resolver.setServers` takes. */
    address: `127.0.0.1:${socket.address().port}`,
    /** The addresses of every name. Empty means that no name exists. */
    answers: [] as readonly string[],
    /** If not 0, every answer has this code and no address. An example is 2, SERVFAIL. */
    rcode: 0,
    /** Questions for this address family get no answer. */
    silentOn: undefined as 4 | 6 | undefined,
    questionCount: () => questions,
    stop: async () => {
      socket.close();
      await once(socket, "close");
    },
  };
  return server;
}

function typeOf(query: Buffer): number {
  return query.readUInt16BE(query.indexOf(0, HEADER_LENGTH) + 1);
}

type Answer = { readonly answers: readonly string[]; readonly rcode: number };

/** Encodes the answer to a query with one question. RFC 1035 §4.1 */
function answerTo(query: Buffer, { answers, rcode }: Answer): Buffer {
  const nameEnd = query.indexOf(0, HEADER_LENGTH);
  const type = typeOf(query);
  const question = query.subarray(HEADER_LENGTH, nameEnd + 5);
  const records = (rcode === 0 ? answers : [])
    .filter((address) => type === (isIPv6(address) ? TYPE_AAAA : TYPE_A))
    .map((address) => recordOf(type, address));
  const header = Buffer.alloc(HEADER_LENGTH);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (rcode || (answers.length === 0 ? NXDOMAIN : 0)), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question, ...records]);
}

function recordOf(type: number, address: string): Buffer {
  const data = type === TYPE_A ? Buffer.from(address.split(".").map(Number)) : ipv6Bytes(address);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc000 | HEADER_LENGTH, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(TTL_SECONDS, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
}

function ipv6Bytes(address: string): Buffer {
  const [before = "", after = ""] = address.split("::");
  const groups = (text: string) => text.split(":").filter((group) => group !== "");
  const zeros = 8 - groups(before).length - groups(after).length;
  const all = [...groups(before), ...Array<string>(zeros).fill("0"), ...groups(after)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}
