import { NativeConnection, type NativeConnectionOptions } from "@temporalio/worker";
import { orAborted } from "../common/or-aborted.ts";

/**
 * Connects to Temporal and checks that it serves the namespace. Without this check, the worker itself would fail, and
 * leave its thread behind. Rejects at once with the signal's reason when `signal` is aborted.
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
    await orAborted(described, signal);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Connecting cannot be canceled, so this closes a connection that opens after the stop. */
async function connect(
  options: NativeConnectionOptions,
  signal: AbortSignal,
): Promise<NativeConnection> {
  const connecting = NativeConnection.connect(options);
  try {
    return await orAborted(connecting, signal);
  } catch (error) {
    connecting.then((late) => late.close()).catch(() => undefined);
    throw error;
  }
}
