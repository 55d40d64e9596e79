import * as client from "@activity/feed";
import { checkClient } from "./check-client.mjs";

// biome-ignore lint/style/noDefaultExport: a worker is a module's default export.
export default {
  async fetch(request) {
    try {
      const { searchParams } = new URL(request.url);
      return new Response(await checkClient(client, Object.fromEntries(searchParams)));
    } catch (error) {
      return new Response(error.stack, { status: 500 });
    }
  },
};
