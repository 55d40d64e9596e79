import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { createDispatcher } from "./dispatcher.ts";

export type Version = { readonly name: string; readonly createDispatcher: typeof createDispatcher };

export const THIS_VERSION: Version = { name: "this version", createDispatcher };

/**
 * Loads the dispatcher a second time, with the pollers, recorder, activities, workflows and protos of the version
 * before. A file of the simulation that the version before lacks comes from this version.
 */
export async function loadPrevious(): Promise<Version> {
  const { checkOutPrevious } = await import("../upgrade/harness-previous.ts");
  const { href } = new URL("dispatcher.ts?previous", import.meta.url);
  const before = `${pathToFileURL(checkOutPrevious())}/test/simulation/dispatcher.ts`;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (context.parentURL !== href) return nextResolve(specifier, context);
      try {
        return nextResolve(specifier, { ...context, parentURL: before });
      } catch (error) {
        if (specifier.startsWith("../../")) throw error;
        return nextResolve(specifier, { ...context, parentURL: href });
      }
    },
  });
  const loaded: typeof import("./dispatcher.ts") = await import(href);
  return { name: "the version before", createDispatcher: loaded.createDispatcher };
}
