import { type CoreTls, readCoreTls, readCoreUrl } from "@activity/runtime/core-address";
import { CREDENTIAL, readSecret } from "@activity/runtime/environment";
import { ImportError } from "./import-error.ts";
import type { LocalCore } from "./local-core.ts";

/** The address of the core, and the credentials for it. */
export type CoreConfig = {
  /** Begins with http:// or, for TLS, https://. */
  readonly coreUrl: string;
  readonly serviceCredential: string;
  readonly coreTls: CoreTls;
};

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_CORE_URL = "http://127.0.0.1:50051";

/**
 * Reads the core's address and credentials from the environment, and the missing ones from the file of `npm start`. The
 * stored credential is sent only to the core of `npm start`. Throws an ImportError.
 */
export function readCoreConfig(env: Environment, local: LocalCore): CoreConfig {
  const problem = (text: string): never => {
    throw new ImportError(text);
  };
  const isLocal = !env.CORE_URL || env.CORE_URL === local.coreUrl;
  const serviceCredential =
    readSecret(env, "SERVICE_CREDENTIAL", problem) || (isLocal ? local.serviceCredential : "");
  if (!serviceCredential) {
    throw new ImportError(
      "Set SERVICE_CREDENTIAL to a credential with the permissions donation.import and account.read (and CORE_URL to the core's address), or leave CORE_URL unset and run npm start once on this machine.",
    );
  }
  if (!CREDENTIAL.test(serviceCredential)) {
    throw new ImportError("SERVICE_CREDENTIAL must be visible ASCII on one line.");
  }
  // The stored address is not checked: the core of npm start runs on this machine.
  const coreUrl = env.CORE_URL ? readCoreUrl(env, "", problem) : local.coreUrl || DEFAULT_CORE_URL;
  return { coreUrl, serviceCredential, coreTls: readCoreTls(env, problem) };
}
