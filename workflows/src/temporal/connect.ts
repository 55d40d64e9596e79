import { NativeConnection, type NativeConnectionOptions } from "@temporalio/worker";

/**
 * Connects to Temporal and checks that it serves the namespace. A worker without its namespace fails as well, but its
 * thread remains. Rejects at once with the signal's reason when `signal` is aborted.
 */
export async function connectTemporal(
  options: {
    readonly connection: NativeConnectionOptions;
    readonly namespace: string;
  },
  signal: AbortSignal,
): Promise<NativeConnection> {
  const { namespace } = options;
  const connection = await connect(options.connection, signal);
  try {
    const described = connection.workflowService.describeNamespace({ namespace });
    await orStopped(described, signal);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Connecting cannot be canceled. A connection that opens after the stop is closed. */
async function connect(
  options: NativeConnectionOptions,
  signal: AbortSignal,
): Promise<NativeConnection> {
  const connecting = NativeConnection.connect(options);
  try {
    return await orStopped(connecting, signal);
  } catch (error) {
    connecting.then((late) => late.close()).catch(() => undefined);
    throw error;
  }
}

/** Settles with the promise, or rejects with the signal's reason when that is aborted first. */
async function orStopped<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([promise, stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
