export { type DeliveryConfig, readDeliveryConfig, readDeliverySettings } from "./config.ts";
export { startDeliveries } from "./start-deliveries.ts";
