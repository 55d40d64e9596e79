import { NativeConnection, type NativeConnectionOptions } from "@temporalio/worker";

/**
 * Connects to Temporal and makes sure that it serves the namespace: a worker made without it fails as
 * well, but leaves its thread behind. Rejects at once with the signal's reason when told to stop.
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

/** An attempt to connect cannot be taken back: what it brings after the stop is closed. */
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

/** Settles as the promise does, or rejects with the signal's reason when that comes first. */
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
