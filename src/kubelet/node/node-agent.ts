import { isDeepStrictEqual } from 'node:util';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import type { Node, NodeAddress, NodeStatus } from '#api/types/core-v1.ts';
import { onAbort, withDeadline } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TaskGroup } from '#base/task-group.ts';
import { Cell, type Watchable } from '#base/watchable.ts';
import { ApiError, isAlreadyExists, isForbidden, isNotFound } from '#client/api-error.ts';
import type { Client } from '#client/client.ts';
import type { EventRecorder } from '#client/event-recorder.ts';
import { keepLease } from '#client/leases.ts';
import { timestamp } from '#client/timestamps.ts';
import { type NodeTeller, nodeTeller } from './node-events.ts';
import { adoption, type NodeWishes, newNode, restoration } from './node-object.ts';
import { isSameStatus, statusPatch } from './node-patch.ts';
import { type NodeFacts, type NodeSettings, nodeStatus } from './node-status.ts';
import type { RuntimeWatch } from './runtime-state.ts';

export interface NodeAgentOptions {
  readonly nodeName: string;
  readonly client: Client;
  readonly runtimeWatch: Pick<RuntimeWatch, 'state' | 'known'>;
  /** Gathers what the node is now; asked for each report. */
  readonly facts: (signal: AbortSignal) => Promise<NodeFacts>;
  readonly settings: NodeSettings;
  readonly events: Pick<EventRecorder, 'emit'>;
  readonly wishes: NodeWishes;
  /** false: somebody else makes the node's object. */
  readonly registers: boolean;
  /** Ends the connections to the API server: those that are to be made may work. */
  readonly redial: () => void;
  readonly timing: NodeTiming;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 <= n < 1 */
  readonly random?: (() => number) | undefined;
}

export interface NodeTiming {
  /** Between two looks at the node's status. */
  readonly statusEveryMs: number;
  /** A status that does not change is reported this often all the same. */
  readonly reportEveryMs: number;
  readonly leaseEveryMs: number;
  readonly leaseDurationSeconds: number;
}

/** Upstream's numbers. */
export const defaultNodeTiming: NodeTiming = { statusEveryMs: 10_000, reportEveryMs: 300_000, leaseEveryMs: 10_000, leaseDurationSeconds: 40 };

export interface NodeAgent {
  /** The node as it is about to be registered: what is known of it while there is no API server. */
  readonly expected: Watchable<Node | undefined>;
  /** The node as the API server answered last; `undefined` until it is registered. */
  readonly node: Watchable<Node | undefined>;
  /** The node's addresses as they were last told; none before the first time. */
  readonly addresses: Watchable<readonly NodeAddress[]>;
  /** Something in the facts has changed: reports at once. */
  refresh(): void;
  /** Registers the node, keeps its status and its lease, until the signal is aborted. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

export function createNodeAgent(options: NodeAgentOptions): NodeAgent {
  return new Agent(options);
}

const firstRetryMs = 100;
const lastRetryMs = 7_000;
const triesPerReport = 5;
const jitter = 0.04;
/** How long registration waits for the runtime's first answer, so that a healthy node is Ready from its first moment. */
const runtimePatienceMs = 1_000;

class Agent implements NodeAgent {
  readonly node = new Cell<Node | undefined>(undefined);
  readonly expected = new Cell<Node | undefined>(undefined);
  readonly addresses = new Cell<readonly NodeAddress[]>([]);
  readonly #options: NodeAgentOptions;
  /** Counts up with every wish for a report. */
  readonly #wishes = new Cell(0);
  readonly #teller: NodeTeller;
  /** When a status that is the same is due. */
  #dueAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: NodeAgentOptions) {
    this.#options = options;
    this.#teller = nodeTeller(options.nodeName, options.settings, options.events);
    this.node.subscribe((node) => this.#seeAddresses(node?.status?.addresses ?? []));
  }

  refresh(): void {
    this.#wishes.set(this.#wishes.get() + 1);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { runtimeWatch, logger, timing } = this.#options;
    const tasks = new TaskGroup((what, error) => logger.error('the node agent broke', { what, error: messageOf(error) }));
    const unsubscribe = runtimeWatch.state.subscribe(() => this.refresh());
    try {
      await this.#runtimeAnswers(signal);
      await this.#begin(signal);
      tasks.run('lease', (inner) => this.#keepLease(inner));
      while (!signal.aborted) {
        const wish = this.#wishes.get();
        await this.#report(signal);
        const waitMs = timing.statusEveryMs * (1 + jitter * this.#random());
        await this.#nextReport(wish, waitMs, signal);
      }
    } finally {
      unsubscribe();
      await tasks.close();
    }
  }

  #seeAddresses(next: readonly NodeAddress[]): void {
    if (!isDeepStrictEqual(next, this.addresses.get())) this.addresses.set(next);
  }

  #random(): number {
    return (this.#options.random ?? Math.random)();
  }

  async #runtimeAnswers(signal: AbortSignal): Promise<void> {
    const { clock, runtimeWatch } = this.#options;
    const known = (inner: AbortSignal) => runtimeWatch.known(inner);
    await withDeadline('the first answer of the runtime', runtimePatienceMs, clock, signal, known).catch(() => undefined); // a late one is reported as such
  }

  /** Resolves when it is time, when somebody wishes for a report, or when the signal is aborted. */
  #nextReport(wish: number, waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cleanups: (() => void)[] = [];
      const end = (): void => {
        for (const cleanup of cleanups) cleanup();
        resolve();
      };
      const timer = this.#options.clock.after(waitMs, end);
      cleanups.push(() => timer.cancel(), this.#wishes.subscribe(end), onAbort(signal, end));
      if (signal.aborted || this.#wishes.get() !== wish) end();
    });
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { registers, facts, logger } = this.#options;
    if (registers) return await this.#register(signal);
    try {
      this.#expect(await facts(signal));
    } catch (error) {
      if (!signal.aborted) logger.warn('the node does not know itself', { error: messageOf(error) }); // each report tries again
    }
  }

  /** Goes on until it is done. */
  async #register(signal: AbortSignal): Promise<void> {
    const { logger, nodeName, clock } = this.#options;
    for (let delayMs = firstRetryMs; !signal.aborted; delayMs = Math.min(delayMs * 2, lastRetryMs)) {
      try {
        this.node.set(await this.#createOrAdopt(signal));
        logger.info('the node is registered', { node: nodeName });
        return;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('the node cannot be registered', { node: nodeName, error: messageOf(error), delayMs });
        await clock.sleep(delayMs, signal).catch(() => undefined); // an aborted wait ends the loop
      }
    }
  }

  /** @returns the object of a new node */
  #expect(facts: NodeFacts): ReturnType<typeof newNode> {
    const { nodeName, wishes, settings, clock } = this.#options;
    const made = newNode(nodeName, facts, wishes, nodeStatus(facts, settings, {}, timestamp(clock.now())));
    const metadata = { ...made.metadata, uid: '', resourceVersion: '', creationTimestamp: '' };
    this.expected.set({ apiVersion: 'v1', kind: 'Node', ...made, metadata });
    return made;
  }

  async #createOrAdopt(signal: AbortSignal): Promise<Node> {
    const { client, nodeName, wishes } = this.#options;
    const facts = await this.#options.facts(signal);
    const made = this.#expect(facts);
    try {
      const created = await client.create(nodeKind, made, signal);
      if (created.status?.conditions !== undefined) {
        this.#reported(true);
        this.#teller.changed(facts, {});
      } // else the server keeps no status of what is new, and the first report says it
      return created;
    } catch (error) {
      if (!isAlreadyExists(error) && !isForbidden(error)) throw error; // who may not make a node may have one
    }
    const present = await client.get(nodeKind, { name: nodeName }, signal);
    return await this.#amend(present, adoption(present, facts, wishes), signal);
  }

  async #amend(present: Node, change: object | undefined, signal: AbortSignal): Promise<Node> {
    if (change === undefined) return present;
    const { client, nodeName } = this.#options;
    return await client.patch(nodeKind, { name: nodeName }, 'strategic', change, '', signal);
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { logger, nodeName, registers, clock, redial } = this.#options;
    for (let tries = 1; tries <= triesPerReport && !signal.aborted; tries += 1) {
      try {
        return await withDeadline('the report of the node', this.#requestWithinMs, clock, signal, (inner) => this.#reportOnce(inner));
      } catch (error) {
        if (signal.aborted) return;
        if (isNotFound(error) && registers) {
          logger.warn('the node is gone from the API server and registers again', { node: nodeName });
          return await this.#register(signal);
        }
        if (tries > 1 && !(error instanceof ApiError)) redial();
        if (tries === triesPerReport) logger.warn('the node status cannot be reported', { node: nodeName, error: messageOf(error) });
      }
    }
  }

  /** Upstream's number. */
  get #requestWithinMs(): number {
    const { statusEveryMs, leaseDurationSeconds } = this.#options.timing;
    return Math.min(statusEveryMs, leaseDurationSeconds * 1000);
  }

  async #reportOnce(signal: AbortSignal): Promise<void> {
    const { client, nodeName, settings, clock, wishes } = this.#options;
    // Read each time: whether a controller has meanwhile declared the node's state unknown stands nowhere else.
    const [facts, present] = await Promise.all([this.#options.facts(signal), client.get(nodeKind, { name: nodeName }, signal)]);
    const node = await this.#amend(present, restoration(present, facts, wishes), signal);
    this.#teller.seen(node);
    const before: NodeStatus = node.status ?? {};
    const next = nodeStatus(facts, settings, before, timestamp(clock.now()));
    const isChanged = !isSameStatus(before, next);
    if (!isChanged && clock.monotonic() < this.#dueAtMs) {
      this.node.set(node);
      return;
    }
    const reported = await client.patch(nodeKind, { name: nodeName }, 'strategic', statusPatch(before, next), 'status', signal);
    this.#reported(isChanged);
    this.node.set(reported);
    this.#teller.changed(facts, node);
  }

  /** After a change the next report that says nothing new comes half a period earlier or later: or all nodes of a cluster would report at once. */
  #reported(isChanged: boolean): void {
    const shift = isChanged ? this.#random() - 0.5 : 0;
    this.#dueAtMs = this.#options.clock.monotonic() + this.#options.timing.reportEveryMs * (1 + shift);
  }

  async #keepLease(signal: AbortSignal): Promise<void> {
    const { client, nodeName, timing, clock, logger } = this.#options;
    const owner = async () => {
      const uid = this.node.get()?.metadata.uid;
      return uid === undefined ? undefined : { apiVersion: nodeKind.version, kind: nodeKind.kind, name: nodeName, uid };
    };
    const lease = { namespace: leaseNamespace, name: nodeName, holderIdentity: nodeName, durationSeconds: timing.leaseDurationSeconds };
    const limits = { renewEveryMs: timing.leaseEveryMs, requestWithinMs: this.#requestWithinMs, onUnreachable: () => this.#options.redial() };
    await keepLease(client, { ...lease, ...limits, owner, clock, logger, random: () => this.#random() }, signal);
  }
}

const leaseNamespace = 'kube-node-lease';
