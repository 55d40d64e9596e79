/** Private parts of the driver. If an upgrade changes them, the tests of pages fail. */
type DriverPacket = { readonly buffer: Buffer; readonly start: number; readonly end: number };
type DriverCommand = { buildParserFromFields(): typeof RawRows };

/** The bytes before a packet's content: its length and a sequence number. */
const PACKET_HEADER_BYTES = 4;

class RawRows {
  next({ buffer, start, end }: DriverPacket): Buffer {
    return buffer.subarray(start + PACKET_HEADER_BYTES, end);
  }
}

/**
 * Lets a prepared statement that is being sent return each row as its bytes in the binary protocol. Without this, the
 * driver makes an object of each row, with all its values.
 */
export function returnRawRows(command: object): void {
  (command as DriverCommand).buildParserFromFields = () => RawRows;
}
