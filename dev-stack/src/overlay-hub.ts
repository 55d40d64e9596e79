import { join } from "node:path";
import { type Hub, readToken, startHub } from "../../feed/src/hub/index.ts";
import { isPortFree } from "./free-port.ts";

/** Where `npx @activity/feed hub` serves too. */
const PORT = 4191;

/**
 * Runs the hub of `@activity/feed` for the demo account in this process. Its token is kept in the data
 * folder, so that the address in OBS stays the same; the port too, unless another program has it.
 */
export async function startOverlayHub(options: {
  readonly apiKey: string;
  readonly gateway: string;
  readonly dataDir: string;
}): Promise<Hub> {
  const { apiKey, gateway, dataDir } = options;
  const hub = await startHub({
    ...{ apiKey, baseUrl: `http://${gateway}/api/v1` },
    token: await readToken(join(dataDir, "overlay-token")),
    port: (await isPortFree(PORT)) ? PORT : 0,
  });
  // A key that was revoked in the dashboard ends it, and nothing else.
  hub.ended.catch((error) =>
    process.stderr.write(`The overlay follows no more: ${error.message}\n`),
  );
  return hub;
}
