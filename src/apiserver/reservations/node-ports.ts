import { service as serviceKind } from '#api/kinds/core/v1/service.ts';
import { nodePortsOf } from '#api/rules/service/service-facts.ts';
import type { StoredEntry } from '#store/storage.ts';
import { storageRoot } from '../registry/kind-storage.ts';
import { nowSeconds } from '../verbs/times.ts';
import { candidates } from './candidates.ts';
import { type Holder, isOld, type SupplyContext, storedHoldings } from './holder.ts';
import type { Refusal } from './service-addresses.ts';

const firstPort = 30_000;
const lastPort = 32_767;
/** Left for those who ask for a number, as upstream's: a thirty-second part of the range. */
const staticPorts = 86;
const prefix = `${storageRoot}servicenodeports/`;
const blindTries = 8;
/** What a dry run shows instead of the first number that is chosen. */
const placeholder = lastPort + 2;

interface PortRecord extends Holder {
  readonly createdAt: string;
}

/**
 * Ports of nodes. Each that is taken is a key of its own in the store: only one can be stored, whichever server of the store asks; it
 * outlives every crash, and many Services at once do not wait for each other as they would for one bitmap.
 */
export class NodePorts {
  readonly #context: SupplyContext;

  constructor(context: SupplyContext) {
    this.#context = context;
  }

  /** @returns undefined: all are taken */
  async takeAny(holder: Holder, signal: AbortSignal): Promise<number | undefined> {
    let used: ReadonlySet<number> = new Set();
    let tries = 0;
    for (const candidate of candidates(BigInt(firstPort), BigInt(lastPort), BigInt(staticPorts))) {
      const port = Number(candidate);
      if (used.has(port)) continue;
      if ((await this.#store(port, holder, signal)) === undefined) return port;
      tries += 1;
      if (tries === blindTries) used = this.#used(); // looks at every Service: only worth it when the range fills up
    }
    return undefined;
  }

  /** @returns why not; undefined when the port is the holder's now */
  async take(holder: Holder, port: number, signal: AbortSignal): Promise<Refusal | undefined> {
    if (!isInRange(port)) return outOfRange;
    const standing = await this.#store(port, holder, signal);
    if (standing === undefined) return undefined;
    const isFree = (await this.#removeAbandoned(port, standing, signal)) && (await this.#store(port, holder, signal)) === undefined;
    return isFree ? undefined : alreadyAllocated;
  }

  /** What a dry run says of a port. */
  refusal(port: number): Refusal | undefined {
    if (!isInRange(port)) return outOfRange;
    return this.#used().has(port) ? alreadyAllocated : undefined;
  }

  /** @param taken numbers that the same dry run has shown already */
  placeholder(taken: readonly number[]): number {
    return Math.max(placeholder, ...taken.map((port) => port + 1));
  }

  /** Nothing happens when the port is another's. */
  async giveBack(holder: Holder, port: number, signal: AbortSignal): Promise<void> {
    const { storage } = this.#context.registry;
    const entry = await storage.get(keyOf(port), signal);
    if (entry === undefined) return;
    const { namespace, name } = recordOf(entry);
    if (namespace !== holder.namespace || name !== holder.name) return;
    await storage.commit({ key: entry.key, expectedRevision: entry.modRevision, value: undefined, leaseId: 0 }, signal);
  }

  /** Gives back what no Service has, and reserves what a Service has without. */
  async repair(owned: ReadonlyMap<number, Holder>, signal: AbortSignal): Promise<void> {
    const { entries } = await this.#context.registry.storage.range(prefix, { revision: 0, limit: 0, after: '' }, signal);
    const known = new Map(entries.map((entry) => [Number(entry.key.slice(prefix.length)), entry]));
    for (const [port, entry] of known) if (!owned.has(port)) await this.#removeAbandoned(port, entry, signal);
    for (const [port, holder] of owned) if (!known.has(port)) await this.#store(port, holder, signal);
  }

  /** By the Services that this server knows; the store has the last word. */
  #used(): ReadonlySet<number> {
    return new Set(this.#context.objects.list(serviceKind).flatMap(nodePortsOf));
  }

  /** @returns the record that stands in the way */
  async #store(port: number, holder: Holder, signal: AbortSignal): Promise<StoredEntry | undefined> {
    const { registry, clock } = this.#context;
    const record: PortRecord = { namespace: holder.namespace, name: holder.name, createdAt: nowSeconds(clock) };
    const value = Buffer.from(JSON.stringify(record));
    const result = await registry.storage.commit({ key: keyOf(port), expectedRevision: 0, value, leaseId: 0 }, signal);
    return result.kind === 'conflict' ? result.current : undefined;
  }

  /** What a crash left: an old reservation for a Service that does not have the port. */
  async #removeAbandoned(port: number, standing: StoredEntry, signal: AbortSignal): Promise<boolean> {
    const record = recordOf(standing);
    if (!isOld(record.createdAt, this.#context.clock)) return false;
    if ((await storedHoldings(this.#context, record, signal)).ports.includes(port)) return false;
    const { storage } = this.#context.registry;
    const result = await storage.commit({ key: standing.key, expectedRevision: standing.modRevision, value: undefined, leaseId: 0 }, signal);
    return result.kind === 'committed';
  }
}

const alreadyAllocated = 'provided port is already allocated';
const outOfRange = `provided port is not in the valid range. The range of valid ports is ${firstPort}-${lastPort}`;

function isInRange(port: number): boolean {
  return port >= firstPort && port <= lastPort;
}

function keyOf(port: number): string {
  return `${prefix}${port}`;
}

function recordOf(entry: StoredEntry): PortRecord {
  return JSON.parse(Buffer.from(entry.value).toString()) as PortRecord; // only this class writes below the prefix
}
