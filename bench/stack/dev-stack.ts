/** Everything that the benches use of dev-stack. */
export { buildDashboard } from "../../dev-stack/src/build-dashboard.ts";
export { startDatabase } from "../../dev-stack/src/database.ts";
export { findChromium } from "../../dev-stack/src/find-chromium.ts";
export { findFreePort } from "../../dev-stack/src/free-port.ts";
export { createProgress, type Progress } from "../../dev-stack/src/progress.ts";
export { startRedis } from "../../dev-stack/src/redis.ts";
export { startServer } from "../../dev-stack/src/server-process.ts";
export { StackError } from "../../dev-stack/src/stack-error.ts";
export { startTemporal } from "../../dev-stack/src/temporal.ts";
