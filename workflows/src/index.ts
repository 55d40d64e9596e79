export { type DeliveryConfig, readDeliveryConfig } from "./config.ts";
export { type RunningDeliveries, startDeliveries } from "./start-deliveries.ts";
