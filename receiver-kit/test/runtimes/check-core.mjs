// This file runs unchanged in every runtime: it uses no test runner and no types, only the kit and the language.

/** Throws if the kit behaves differently in this runtime. Returns a summary of the checks. */
export async function checkCore({ kit, memory, fetchAdapter, vectors }) {
  for (const vector of vectors) await checkVector(kit, vector);

  const secret = vectors[0].secret;
  const body = JSON.stringify({
    id: "wev_1",
    type: "donation.created",
    created_at: "2026-01-01T00:00:00Z",
    test: false,
    data: { id: "1", message: "Grüße 🎉" },
  });
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = await kit.signedHeaders({ secret, eventId: "wev_1", body, timestampSeconds });

  let handled = 0;
  const receive = fetchAdapter.createFetchReceiver({
    secrets: [secret],
    store: memory.createMemoryStore(),
    handle: () => {
      handled += 1;
    },
    onProblem: () => {},
  });
  const deliver = (text) =>
    receive(new Request("http://localhost/webhooks", { method: "POST", headers, body: text }));
  const statuses = [];
  for (const text of [body, body, `${body} `, "x".repeat(2_000_000)]) {
    statuses.push((await deliver(text)).status);
  }
  expectSame(statuses.join(), "204,204,400,413", "the answers");
  expectSame(handled, 1, "how often the event was handled");
  return `${vectors.length} vectors and 4 deliveries`;
}

async function checkVector(kit, { name, secret, now_seconds, headers, body_base64, reason }) {
  const body = Uint8Array.from(atob(body_base64), (character) => character.charCodeAt(0));
  let found = null;
  try {
    await kit.verify(body, headers, { secrets: secret, clock: () => now_seconds * 1000 });
  } catch (error) {
    if (!(error instanceof kit.VerificationError)) throw error;
    found = error.reason;
  }
  expectSame(found, reason, name);
}

function expectSame(found, expected, what) {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}`);
}
