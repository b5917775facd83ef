import assert from 'node:assert/strict';
import type { Node } from '#api/types/core-v1.ts';
import { silentLogger } from '#base/log.ts';
import { FakeClock } from '#base/testing/fake-clock.ts';
import { Cell } from '#base/watchable.ts';
import { createClient } from '#client/api-client.ts';
import { MemoryApi } from '#client/testing/memory-api.ts';
import { parseKubeletConfiguration } from '../../configuration/kubelet-configuration.ts';
import { nodeBudget } from '../../resources/node-budget.ts';
import { createNodeAgent, defaultNodeTiming, type NodeAgent } from '../node-agent.ts';
import { noPressure } from '../node-conditions.ts';
import type { NodeWishes } from '../node-object.ts';
import type { NodeFacts, NodeSettings } from '../node-status.ts';
import type { RuntimeState } from '../runtime-state.ts';

export const healthy: RuntimeState = { runtimeProblem: '', networkProblem: '', handlers: [], features: undefined };
export const aSettings: NodeSettings = {
  ...nodeBudget(parseKubeletConfiguration({}, 'test'), 2),
  maxImages: 50,
  countsStorage: true,
  hasExternalCloud: false,
  isAddressGiven: false,
};

/** Of a small node. */
export function aFacts(runtime: RuntimeState = healthy): NodeFacts {
  return {
    host: {
      hostname: 'h',
      cpus: 2,
      memoryBytes: 2 ** 31,
      swapBytes: 0,
      hugepages: [],
      architecture: 'amd64',
      kernelVersion: '6.1',
      osImage: 'Linux',
      machineId: 'm',
      systemUuid: 's',
      bootId: 'b',
      maxProcesses: 32_768,
      hasAppArmor: false,
      addresses: [],
      defaultRouteInterface: undefined,
    },
    filesystem: { capacityBytes: 1 << 30, availableBytes: 1 << 29, inodes: 100, inodesFree: 50 },
    addresses: ['10.0.0.1'],
    hostname: 'n1',
    kubeletPort: 4321,
    kubeletVersion: 'v1.36.0',
    runtimeVersion: { version: '', runtimeName: 'containerd', runtimeVersion: '1.6.20', runtimeApiVersion: 'v1' },
    runtimeName: 'containerd',
    images: [],
    runtime,
    pressures: noPressure,
    isShuttingDown: false,
  };
}

/** An agent that runs against an API server in memory, on a clock of the test. */
export interface Running {
  readonly api: MemoryApi;
  readonly clock: FakeClock;
  readonly runtime: Cell<RuntimeState>;
  readonly agent: NodeAgent;
  readonly events: string[];
  node(): Node;
  ready(): string;
  /** Moves time on in small steps: every request takes turns of the event loop. */
  pass(ms: number): Promise<void>;
  /** Writes to the node's status so far. */
  reports(): number;
  stop(): Promise<void>;
}

export const noWishes: NodeWishes = {
  ...{ labels: {}, taints: [], providerID: '' },
  ...{ hasAttachController: true, hasExternalCloud: false, givenAddresses: [] },
};

export interface Change {
  readonly wishes?: Partial<NodeWishes>;
  readonly registers?: boolean;
  readonly random?: () => number;
}

export async function running(
  first: RuntimeState = healthy,
  prepare: (api: MemoryApi) => void = () => undefined,
  change: Change = {},
): Promise<Running> {
  const api = new MemoryApi();
  prepare(api);
  const clock = new FakeClock();
  const runtime = new Cell(first);
  const events: string[] = [];
  const agent = createNodeAgent({
    nodeName: 'n1',
    client: createClient(api),
    runtimeWatch: { state: runtime, known: async () => undefined },
    facts: async () => aFacts(runtime.get()),
    settings: aSettings,
    events: { emit: (about, event) => events.push(`${about.name} ${event.reason}`) },
    wishes: { ...noWishes, labels: { zone: 'a' }, ...change.wishes },
    registers: change.registers ?? true,
    redial: () => void events.push('redial'),
    timing: defaultNodeTiming,
    clock,
    logger: silentLogger,
    random: change.random ?? (() => 0.5),
  });
  const abort = new AbortController();
  const ended = agent.run(abort.signal);
  const settle = async () => {
    for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  await settle();
  const node = () => {
    const [only] = api.objects<Node>('nodes');
    assert.ok(only !== undefined, 'there is a node');
    return only;
  };
  return {
    api,
    clock,
    runtime,
    agent,
    events,
    node,
    ready: () => node().status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'none',
    reports: () => api.requests.filter((request) => request.endsWith('/nodes/n1/status')).length,
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += 1_000) {
        await clock.advance(Math.min(1_000, ms - passed));
        await settle();
      }
    },
    async stop() {
      abort.abort();
      await ended;
    },
  };
}
