/** The product's log line when its deliveries begin to claim. */
export const DELIVERIES_RUN = "deliveries run";
