// This file runs unchanged in every runtime: it uses no test runner and no types, only the client and the language.

/** Throws if the client behaves differently in this runtime. Returns a summary of the checks. */
export async function checkClient({ follow, list, me, memory }, { baseUrl, apiKey }) {
  const connection = { baseUrl, apiKey };
  const since = "2000-01-01T00:00:00Z";
  const { key } = await me(connection);
  expectSame(key.expires_at, "2999-01-01T00:00:00.000000Z", "the key's end");
  const listed = [];
  for await (const { id } of list({ ...connection, since })) listed.push(id);
  expectSame(listed.length, 7, "the list");

  // Two loops share a checkpoint, like a program that starts twice. Each record comes once.
  const checkpoint = memory();
  const followed = [];
  for (const enough of [3, 7]) {
    const stopped = new AbortController();
    const { signal } = stopped;
    for await (const { id } of follow({ ...connection, since, checkpoint, signal })) {
      followed.push(id);
      if (followed.length === enough) stopped.abort();
    }
  }
  expectSame(followed.join(), listed.join(), "what was followed");
  let code;
  try {
    await me({ ...connection, apiKey: apiKey.replace(/.$/, "0") });
  } catch (error) {
    code = error.code;
  }
  expectSame(code, "invalid_api_key", "the error of another key");
  return `${listed.length} records listed, ${followed.length} followed`;
}

function expectSame(found, expected, what) {
  if (found !== expected) throw new Error(`${what}: ${found}, expected ${expected}`);
}
