/** The frame types that the hub knows. RFC 6455 §5.2 */
export const Opcode = { Continue: 0, Text: 1, Binary: 2, Close: 8, Ping: 9, Pong: 10 } as const;

/** The hub's codes in close frames. RFC 6455 §7.4.1 */
export const CloseCode = { GoingAway: 1001, ProtocolError: 1002, TooBig: 1009 } as const;

const KNOWN: ReadonlySet<number> = new Set(Object.values(Opcode));
const MAX_PAYLOAD_BYTES = 4_096;
const MAX_CONTROL_BYTES = 125;

export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** Encodes one unmasked frame, as servers send it. */
export function writeFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** Returns a function that takes received bytes and returns complete frames, or the close code of an invalid one. */
export function createFrameReader(): (chunk: Buffer) => readonly (Frame | { problem: number })[] {
  let pending = Buffer.alloc(0);
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    const frames: (Frame | { problem: number })[] = [];
    for (let read = readFrame(pending); read !== undefined; read = readFrame(pending)) {
      if (typeof read === "number") return [...frames, { problem: read }];
      frames.push(read.frame);
      pending = pending.subarray(read.bytes);
    }
    return frames;
  };
}

/** Reads the first frame. Returns undefined if it is incomplete, and a close code if it is invalid. */
function readFrame(bytes: Buffer): { frame: Frame; bytes: number } | number | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const opcode = first & 0x0f;
  const isControl = opcode >= Opcode.Close;
  const short = second & 0x7f;
  const hasReserved = (first & 0x70) !== 0;
  const isCut = isControl && (first < 0x80 || short > MAX_CONTROL_BYTES);
  // Clients must mask their frames.
  if (hasReserved || isCut || !KNOWN.has(opcode) || second < 0x80) return CloseCode.ProtocolError;
  if (short === 127) return CloseCode.TooBig;
  const maskAt = short === 126 ? 4 : 2;
  if (bytes.length < maskAt) return undefined;
  const length = short === 126 ? bytes.readUInt16BE(2) : short;
  if (length > MAX_PAYLOAD_BYTES) return CloseCode.TooBig;
  const from = maskAt + 4;
  if (bytes.length < from + length) return undefined;
  const payload = Buffer.from(bytes.subarray(from, from + length));
  for (const [at, byte] of payload.entries()) {
    payload[at] = byte ^ (bytes[maskAt + (at % 4)] ?? 0);
  }
  return { frame: { opcode, payload }, bytes: from + length };
}
