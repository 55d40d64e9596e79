import { join } from "node:path";
import { type Hub, readToken, startHub } from "../../feed/src/hub/index.ts";
import { isPortFree } from "./free-port.ts";
import { StackError, stackErrorFromFile } from "./stack-error.ts";

/** The default port of `npx @activity/feed hub`. */
const PORT = 4191;

/**
 * Runs the hub of `@activity/feed` for the demo account in this process. The data folder keeps its token, so that the
 * address in OBS stays valid. The port stays too, unless another program has it.
 */
export async function startOverlayHub(options: {
  readonly apiKey: string;
  readonly gateway: string;
  readonly dataDir: string;
}): Promise<Hub> {
  const { apiKey, gateway, dataDir } = options;
  const tokenFile = join(dataDir, "overlay-token");
  const hub = await startHub({
    ...{ apiKey, baseUrl: `http://${gateway}/api/v1` },
    token: await readToken(tokenFile).catch((error) => {
      // The message of `invalid_option` names the file already.
      throw error.code === "invalid_option"
        ? new StackError(error.message)
        : stackErrorFromFile(error, tokenFile);
    }),
    port: (await isPortFree(PORT)) ? PORT : 0,
  });
  // If the API key is revoked in the dashboard, only the hub ends, and not the product.
  hub.ended.catch((error) =>
    process.stderr.write(`The overlay follows no more: ${error.message}\n`),
  );
  return hub;
}
