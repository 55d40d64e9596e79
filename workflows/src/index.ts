export { type DeliveryConfig, readDeliveryConfig, readDeliverySettings } from "./config.ts";
export { type RunningDeliveries, startDeliveries } from "./start-deliveries.ts";
