import { UsageError } from "./command.ts";

/** Parses a file of headers: a JSON object, or `Name: value` lines as a proxy or curl prints them. */
export function parseHeadersFile(text: string): (readonly [string, string])[] {
  return text.trimStart().startsWith("{") ? parseJson(text) : parseLines(text);
}

function parseLines(text: string): (readonly [string, string])[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, name, value] = /^[<>]?\s*([^:\s]+):\s*(.*?)\s*$/.exec(line) ?? [];
    return name !== undefined && value !== undefined ? [[name, value] as const] : [];
  });
}

function parseJson(text: string): (readonly [string, string])[] {
  try {
    return Object.entries(JSON.parse(text.trim())).flatMap(([name, values]) =>
      [values].flat().map((value) => [name, String(value)] as const),
    );
  } catch {
    throw new UsageError("the headers file is neither `Name: value` lines nor a JSON object");
  }
}
