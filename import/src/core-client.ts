import { AccountService, ErrorInfoSchema, ImportService } from "@activity/proto";
import { CoreSessions, CUT_ANSWER } from "@activity/proto/core-sessions";
import { messageOf } from "@activity/runtime/error-message";
import {
  type Client,
  Code,
  ConnectError,
  createClient,
  type Interceptor,
} from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { CoreConfig } from "./core-config.ts";
import { ImportError } from "./import-error.ts";

/** The services of the core that an import calls. */
export type CoreClient = {
  readonly coreUrl: string;
  readonly accounts: Client<typeof AccountService>;
  readonly imports: Client<typeof ImportService>;
};

/** How long a call may be silent before a ping. Without pings, a connection that was cut silently hangs the import. */
const PINGS = { pingIntervalMs: 10_000 };

/** Creates clients over gRPC. They connect with the first call. */
export function createCoreClient(config: CoreConfig): CoreClient {
  const withCredential: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${config.serviceCredential}`);
    return next(request);
  };
  const transport = createGrpcTransport({
    baseUrl: config.coreUrl,
    interceptors: [withCredential],
    sessionManager: new CoreSessions(config.coreUrl, PINGS, config.coreTls),
  });
  return {
    coreUrl: config.coreUrl,
    accounts: createClient(AccountService, transport),
    imports: createClient(ImportService, transport),
  };
}

/** Converts a failed call to a sentence for a person. Returns any other error unchanged. */
export function explainCallError(error: unknown, coreUrl: string): unknown {
  if (!(error instanceof ConnectError)) return error;
  return new ImportError(sentenceFor(error, coreUrl), { cause: error });
}

function sentenceFor(error: ConnectError, coreUrl: string): string {
  const { code } = error;
  const reason = error.rawMessage || messageOf(error.cause ?? error);
  // A failure that the core reports has an ErrorInfo. A broken connection has none, and one of these codes.
  const isReported = error.findDetails(ErrorInfoSchema).length > 0;
  const isCut =
    reason === CUT_ANSWER || [Code.Canceled, Code.Internal, Code.Unknown].includes(code);
  const isBroken = !isReported && isCut;
  if (isReported && code === Code.Unavailable) {
    return `The core at ${coreUrl} cannot import now: ${reason} Stored rows are not stored twice.`;
  }
  switch (isBroken ? Code.Unavailable : code) {
    case Code.Unavailable:
    case Code.Aborted:
    case Code.DeadlineExceeded:
      return `The core at ${coreUrl} cannot be reached or does not answer (${reason}): start it with npm start, or set CORE_URL. Then import again: stored rows are not stored twice.`;
    case Code.Unauthenticated:
      return `The core at ${coreUrl} does not accept the service credential, which may have expired or been revoked: set SERVICE_CREDENTIAL to a valid one.`;
    case Code.PermissionDenied:
      return `The service credential does not allow this import, which needs the permissions donation.import and account.read: ${reason}`;
    default:
      return `The core at ${coreUrl} refused the import: ${reason}`;
  }
}
