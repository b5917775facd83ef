import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Storage, StorageEvent, Write } from '../storage.ts';

export interface OpenedStorage {
  /** Fresh: nothing was ever committed. */
  readonly storage: Storage;
  /** Lets that much of the storage's time go by. */
  passTime(ms: number): Promise<void>;
  /** Removes all; the storage may be closed already. */
  dispose(): Promise<void>;
}

export type OpenStorage = () => Promise<OpenedStorage>;

/** A test with a storage of its own. */
export function withStorage(open: OpenStorage, name: string, body: (storage: Storage, opened: OpenedStorage) => Promise<void>): void {
  test(name, async () => {
    const opened = await open();
    try {
      await body(opened.storage, opened);
    } finally {
      await opened.storage.close();
      await opened.dispose();
    }
  });
}

export const never = new AbortController().signal;

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const textOf = (value: Uint8Array): string => new TextDecoder().decode(value);

/** A write that the test expects to take place; its revision. */
export async function put(storage: Storage, key: string, value: string, expectedRevision = 0, leaseId = 0): Promise<number> {
  return committed(storage, { key, expectedRevision, value: bytes(value), leaseId });
}

/** A deletion that the test expects to take place; its revision. */
export async function remove(storage: Storage, key: string, expectedRevision: number): Promise<number> {
  return committed(storage, { key, expectedRevision, value: undefined, leaseId: 0 });
}

async function committed(storage: Storage, write: Write): Promise<number> {
  const result = await storage.commit(write, never);
  assert.equal(result.kind, 'committed', `${write.key} at ${write.expectedRevision}`);
  return result.revision;
}

/** An event in one line: `put /a=1 c2 m3 was 0@2`, `delete /a=1 c2 m4`. */
export function lineOf(event: StorageEvent): string {
  const { key, value, createRevision, modRevision } = event.entry;
  const line = `${event.kind} ${key}=${textOf(value)} c${createRevision} m${modRevision}`;
  if (event.kind === 'delete' || event.previous === undefined) return line;
  return `${line} was ${textOf(event.previous.value)}@${event.previous.modRevision}`;
}

/** Reads a watch until `count` events have come; checks on the way that no batch is empty or splits a revision. */
export async function take(events: AsyncIterator<readonly StorageEvent[]>, count: number): Promise<readonly StorageEvent[]> {
  const taken: StorageEvent[] = [];
  while (taken.length < count) {
    const next = await events.next();
    assert.ok(next.done !== true, `the watch ended after ${taken.length} of ${count} events`);
    assert.ok(next.value.length > 0, 'an empty batch');
    const last = taken.at(-1)?.entry.modRevision ?? 0;
    assert.ok((next.value[0]?.entry.modRevision ?? 0) > last, `revision ${last} came in two batches`);
    taken.push(...next.value);
  }
  assert.equal(taken.length, count);
  return taken;
}

/** An iterator whose `next` can be called as the test likes. */
export function watching(storage: Storage, prefix: string, fromRevision: number, signal = never): AsyncIterator<readonly StorageEvent[]> {
  return storage.watch(prefix, fromRevision, signal)[Symbol.asyncIterator]();
}
