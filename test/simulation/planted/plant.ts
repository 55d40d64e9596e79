import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import type { PlantedBug } from "./bugs.ts";

const ROOT = new URL("../../../", import.meta.url);

/** Plants a bug in its files when this process loads them. Returns a function that tells whether all were loaded. */
export function plant({ also, ...bug }: Omit<PlantedBug, "name">): () => boolean {
  const places = [plantIn(bug), ...(also ? [plant(also)] : [])];
  return () => places.every((isPlanted) => isPlanted());
}

function plantIn({ file, find, replace = "" }: Omit<PlantedBug, "name">): () => boolean {
  const { href } = new URL(file, ROOT);
  const parts = readFileSync(new URL(href), "utf8").split(find);
  if (parts.length !== 2) throw new Error(`${file} contains ${parts.length - 1} times: ${find}`);
  let isPlanted = false;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (url !== href) return loaded;
      isPlanted = true;
      return { ...loaded, source: parts.join(replace) };
    },
  });
  return () => isPlanted;
}
