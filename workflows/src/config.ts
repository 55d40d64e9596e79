import { readFileSync } from "node:fs";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import type { NativeConnectionOptions } from "@temporalio/worker";

/** What relay and worker need to know; docs/configuration.md describes each variable. */
export type DeliveryConfig = {
  readonly connection: NativeConnectionOptions;
  readonly namespace: string;
  /** Development and tests only: `host:port` pairs that stand for this machine. */
  readonly allowedTargets: ReadonlySet<string>;
  /** Development and tests only: a CA (PEM) trusted beside the public ones. */
  readonly extraCa: string | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings, those of Temporal as all of its tools do. Throws when one cannot be used. */
export function readDeliveryConfig(env: Environment): DeliveryConfig {
  const given = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const { connectionOptions, namespace } = loadClientConnectConfig({
    disableFile: true,
    overrideEnvVars: given,
  });
  const { address, tls, apiKey, metadata } = connectionOptions;
  return {
    connection: {
      ...(address !== undefined && { address }),
      ...(tls !== undefined && { tls }),
      ...(typeof apiKey === "string" && { apiKey }),
      ...(metadata !== undefined && { metadata }),
    },
    namespace: namespace ?? "default",
    allowedTargets: new Set((env.WEBHOOK_ALLOWED_TARGETS ?? "").split(",").filter(Boolean)),
    extraCa: env.WEBHOOK_EXTRA_CA ? readFileSync(env.WEBHOOK_EXTRA_CA, "utf8") : undefined,
  };
}
