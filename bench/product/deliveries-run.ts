/** What the product logs when its deliveries begin to claim. */
export const DELIVERIES_RUN = "deliveries run";
