/**
 * Parses a file of ours. A damaged file gives an object without properties. The caller checks the properties it
 * needs.
 */
export function parseObject<Shape extends object>(text: string): Partial<Shape> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
