import { BodyTooLargeError } from "./problem.ts";

/** Throws if the announced length of a body is over the limit, before the body is read. */
export function checkAnnouncedLength(
  contentLength: string | null | undefined,
  limitBytes: number,
): void {
  if (contentLength && Number(contentLength) > limitBytes) {
    throw new BodyTooLargeError(`${contentLength} bytes were announced`);
  }
}

/** Collects chunks up to `limitBytes`. If there are more, throws and leaves the rest unread. */
export async function readChunks(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
): Promise<Uint8Array> {
  const list: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > limitBytes) throw new BodyTooLargeError(`more than ${limitBytes} bytes`);
    list.push(chunk);
  }
  const [first] = list;
  return list.length === 1 && first ? first : joinChunks(list, length);
}

function joinChunks(list: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of list) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
