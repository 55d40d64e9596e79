import { resolve } from "node:path";
import { compileConsumer, pinned } from "../../receiver-kit/scripts/check-consumer.ts";

/** Compiles a user's program against the packed package and its declarations. */
export function checkConsumer(tarball: string, folder: string): void {
  const source = resolve(import.meta.dirname, "../test/consumer/overlay.ts");
  compileConsumer(source, [tarball, pinned("@types/node")], folder);
}
