import * as kit from "receiver-kit";
import * as fetchAdapter from "receiver-kit/fetch";
import * as memory from "receiver-kit/memory";
import vectorsFile from "receiver-kit/vectors.json";
import { checkCore } from "./check-core.mjs";

// biome-ignore lint/style/noDefaultExport: a Worker is a module's default export.
export default {
  async fetch() {
    const { vectors } = vectorsFile;
    return new Response(await checkCore({ kit, memory, fetchAdapter, vectors }));
  },
};
