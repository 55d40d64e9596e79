const client = require("@activity/feed");

const { API_URL: baseUrl, API_KEY: apiKey } = process.env;
import("./check-client.mjs").then(async ({ checkClient }) => {
  console.log(await checkClient(client, { baseUrl, apiKey }));
});
