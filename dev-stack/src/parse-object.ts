/** Parses a file of ours; one that a kill or a hand has damaged has no properties. The caller checks those it needs. */
export function parseObject<Shape extends object>(text: string): Partial<Shape> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
