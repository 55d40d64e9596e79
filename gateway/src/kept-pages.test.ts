import { describe, expect, it } from "vitest";
import { createKeptPages } from "./kept-pages.ts";

const MB = 1_048_576;
const page = (etag: string, length = 100) => ({ etag, body: Buffer.alloc(length), isEmpty: false });
const empty = (etag: string) => ({ etag, body: Buffer.from("[]"), isEmpty: true });

describe("ADR 0032: pages are kept", () => {
  it("at once if they are empty, else at their second request", () => {
    const pages = createKeptPages(MB);
    pages.note("key", "a", empty("1"));
    expect(pages.find("key", "a")).toEqual({ etag: "1", body: Buffer.from("[]"), isEmpty: true });
    pages.note("key", "b", page("1"));
    expect(pages.find("key", "b")).toBeUndefined();
    pages.note("key", "b", page("2"));
    expect(pages.find("key", "b")?.etag).toBe("2");
    pages.note("key", "b", page("3"));
    expect(pages.find("key", "b")?.etag).toBe("3");
  });

  it("for one key and one query each", () => {
    const pages = createKeptPages(MB);
    pages.note("key", "a", empty("1"));
    expect(pages.find("key", "b")).toBeUndefined();
    expect(pages.find("other", "a")).toBeUndefined();
    expect(pages.find("key a", "")).toBeUndefined();
  });

  it("a newer page replaces the kept one, whether it is empty or not", () => {
    const pages = createKeptPages(MB);
    pages.note("key", "a", empty("1"));
    for (const etag of ["2", "3"]) pages.note("key", "a", page(etag));
    expect(pages.find("key", "a")?.etag).toBe("3");
    pages.note("key", "a", empty("4"));
    expect(pages.find("key", "a")?.etag).toBe("4");
  });

  it("in memory of their own, so that a small page keeps nothing else", () => {
    const pages = createKeptPages(MB);
    pages.note("key", "a", empty("1"));
    expect(pages.find("key", "a")?.body.buffer.byteLength).toBe(2);
  });

  it("within the memory, the latest requested ones, with a quarter for empty ones", () => {
    const pages = createKeptPages(100_000);
    pages.note("key", "empty", empty("1"));
    for (let number = 0; number < 50; number++) {
      for (let time = 0; time < 2; time++) pages.note("key", `${number}`, page("1", 10_000));
      pages.find("key", "0");
    }
    const kept = Array.from({ length: 50 }, (_, number) => pages.find("key", `${number}`));
    expect(kept.filter((each) => each !== undefined)).toHaveLength(7);
    expect(kept[0]).toBeDefined();
    expect(kept[49]).toBeDefined();
    expect(pages.find("key", "empty")).toBeDefined();
  });
});
