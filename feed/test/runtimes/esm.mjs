import * as client from "@activity/feed";
import { checkClient } from "./check-client.mjs";

const { API_URL: baseUrl, API_KEY: apiKey } = process.env;
console.log(await checkClient(client, { baseUrl, apiKey }));
