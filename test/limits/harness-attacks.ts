import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Attacker, inParallel, openFrom, runAttack } from "../harness/attack.ts";

type Target = Attacker & { readonly ports: readonly number[] };

const CONNECTIONS = 100;
const MANY_CONNECTIONS = 10_000;
const PIPELINED = 200;
/**
 * The pause between two requests of a connection. With instant answers, all connections send 4,500 requests a second.
 */
const PAUSE_MS = 20;
const ONE_KEY = "0".repeat(64);
const HEAD = "GET /api/v1/activity HTTP/1.1\r\nHost: x\r\n";

const requestWith = (key: string) => `${HEAD}Authorization: Bearer act_live_${key}\r\n\r\n`;

/** Attacks from one address without a valid key. They last until their process ends. */
export const ATTACKS = {
  "one made-up key": (target) => askFromAll(target, () => requestWith(ONE_KEY)),

  "different made-up keys": (target) =>
    askFromAll(target, () => requestWith(randomBytes(32).toString("hex"))),

  pipelining: (target) =>
    inParallel(CONNECTIONS, async (index) => {
      for (;;) {
        const socket = await open(target, index);
        socket.resume();
        socket.write(requestWith(ONE_KEY).repeat(PIPELINED));
        target.count("requests", PIPELINED);
        await untilClosed(socket, 1_000);
        await wait(1_000);
      }
    }),

  "10,000 connections": (target) =>
    inParallel(MANY_CONNECTIONS, async (index) => {
      // Spread out, because the kernel would refuse them all at once.
      await wait(index / 2);
      const socket = await open(target, index);
      if (!socket.destroyed) target.count("connections");
      for (;;) {
        await ask(target, socket, requestWith(ONE_KEY));
        await wait(5_000);
      }
    }),

  "slow heads": (target) =>
    inParallel(2_000, async (index) => {
      const socket = await open(target, index);
      if (!socket.destroyed) target.count("connections");
      for (const letter of HEAD.padEnd(10_000, "x: y\r\n")) {
        if (!socket.writable) break;
        socket.write(letter);
        await wait(500);
      }
      socket.destroy();
    }),

  aborts: (target) =>
    inParallel(CONNECTIONS, async (index) => {
      for (;;) {
        const socket = await open(target, index);
        socket.write(requestWith(randomBytes(32).toString("hex")));
        target.count("requests");
        await wait(1);
        socket.resetAndDestroy();
        await wait(PAUSE_MS);
      }
    }),
} satisfies Record<string, (target: Target) => Promise<unknown>>;

/** Sends requests over many connections at once. */
function askFromAll(target: Target, request: () => string): Promise<unknown> {
  return inParallel(CONNECTIONS, async (index) => {
    const socket = await open(target, index);
    while (socket.writable) {
      await ask(target, socket, request());
      await wait(PAUSE_MS);
    }
  });
}

async function ask(target: Target, socket: Socket, request: string): Promise<void> {
  target.count("requests");
  await new Promise<void>((resolve) => {
    const end = () => {
      socket.off("data", answered).off("close", end);
      resolve();
    };
    const answered = (chunk: Buffer) => {
      target.count(chunk.toString("latin1", 9, 12));
      end();
    };
    socket.on("data", answered).on("close", end);
    socket.write(request);
  });
}

const open = (target: Target, index: number) =>
  openFrom(target, target.ports[index % target.ports.length] ?? 0);

async function untilClosed(socket: Socket, mostMs: number): Promise<void> {
  await Promise.race([new Promise((resolve) => socket.once("close", resolve)), wait(mostMs)]);
  socket.destroy();
}

if (import.meta.main) await runAttack(ATTACKS, (ports) => ({ ports: ports.map(Number) }));
