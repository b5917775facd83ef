import assert from 'node:assert/strict';
import type { Transport } from '#client/transport.ts';

/** What the objects of a churn are, besides their names. */
export interface ChurnState {
  readonly tier: 'front' | 'back';
  readonly value: string;
}

/** One write, and what it made of its object. */
export interface ChurnEntry {
  readonly revision: number;
  readonly name: string;
  readonly before: ChurnState | undefined;
  readonly after: ChurnState | undefined;
}

/** What a watcher is to be told, or was told. */
export interface ChurnEvent {
  readonly type: string;
  readonly name: string;
  readonly revision: number;
  readonly value: string;
}

/** Which objects a watcher sees. */
export type ChurnFilter = (name: string, state: ChurnState) => boolean;

/** Creates, changes and deletes ConfigMaps at random, one after the other, and keeps a log of it. */
export class Churn {
  readonly log: ChurnEntry[] = [];
  readonly #path: string;
  readonly #names: number;
  readonly #revision: () => number;
  readonly #states = new Map<string, ChurnState>();
  #seed = 1;

  /** @param revision of the store; nobody else may write to it */
  constructor(path: string, names: number, revision: () => number) {
    this.#path = path;
    this.#names = names;
    this.#revision = revision;
  }

  async writeOnce(transport: Transport): Promise<void> {
    const name = `n${this.#random(this.#names)}`;
    const before = this.#states.get(name);
    const after = before !== undefined && this.#random(5) === 0 ? undefined : this.#next();
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { tier: after?.tier } }, data: { value: after?.value } };
    if (before === undefined) await this.#send(transport, 'POST', this.#path, object);
    else await this.#send(transport, after === undefined ? 'DELETE' : 'PUT', `${this.#path}/${name}`, after === undefined ? undefined : object);
    this.log.push({ revision: this.#revision(), name, before, after });
    if (after === undefined) this.#states.delete(name);
    else this.#states.set(name, after);
  }

  #next(): ChurnState {
    return { tier: this.#random(3) === 0 ? 'front' : 'back', value: `v${this.log.length}` };
  }

  async #send(transport: Transport, method: 'POST' | 'PUT' | 'DELETE', path: string, body: object | undefined): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const request = { method, path, query: new URLSearchParams(), headers, body: body === undefined ? undefined : JSON.stringify(body) };
    const { status } = await transport.send(request, new AbortController().signal);
    assert.ok(status === 200 || status === 201, `${method} ${path}: ${status}`);
  }

  /** The same numbers in every run. */
  #random(below: number): number {
    this.#seed = (this.#seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((this.#seed / 2_147_483_648) * below);
  }
}

/** What a watcher from the beginning would be told. */
export function eventsOf(log: readonly ChurnEntry[], filter: ChurnFilter): readonly ChurnEvent[] {
  return log.flatMap(({ revision, name, before, after }): ChurnEvent[] => {
    const old = before !== undefined && filter(name, before) ? before : undefined;
    const now = after !== undefined && filter(name, after) ? after : undefined;
    if (now !== undefined) return [{ type: old === undefined ? 'ADDED' : 'MODIFIED', name, revision, value: now.value }];
    return old === undefined ? [] : [{ type: 'DELETED', name, revision, value: old.value }];
  });
}

/** Names and values of what a list at the revision shows. */
export function stateAt(log: readonly ChurnEntry[], filter: ChurnFilter, revision: number): Readonly<Record<string, string>> {
  const states = new Map<string, string>();
  for (const event of eventsOf(log, filter)) {
    if (event.revision > revision) break;
    if (event.type === 'DELETED') states.delete(event.name);
    else states.set(event.name, event.value);
  }
  return Object.fromEntries([...states].sort(([a], [b]) => (a < b ? -1 : 1)));
}
