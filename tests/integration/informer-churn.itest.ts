import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { CoreV1Api, KubeConfig, ListWatch, type V1ConfigMap, Watch } from '@kubernetes/client-node';
import { systemClock } from '#base/clock.ts';
import { createMemoryStorage } from '#store/memory/memory-storage.ts';
import type { Storage } from '#store/storage.ts';
import { startApiServer, type TestApiServer } from '../support/api-server.ts';
import { Churn, type ChurnEntry, type ChurnEvent, type ChurnFilter, eventsOf, stateAt } from '../support/churn.ts';

/** About what people and controllers change in a day of a middling cluster, its leases left out. */
const writes = 20_000;
const dropEvery = 1_500;
const restartEvery = 5_000;
const names = 400;
const namespace = 'default';
const path = `/api/v1/namespaces/${namespace}/configmaps`;
const master = { name: 'admin', groups: ['system:masters'] };

test('informers of the JavaScript client miss nothing of a day, through dropped connections and forgotten revisions', {
  timeout: 60_000,
}, async () => {
  const storage = createMemoryStorage(systemClock);
  let api = await start(storage);
  await using door = await openDoor(() => api.port);
  const client = clientOf(door.port);
  const informers = [
    new Observed(client, {}, () => true),
    new Observed(client, { labelSelector: 'tier=front' }, (_, { tier }) => tier === 'front'),
    new Observed(client, { labelSelector: 'tier notin (front)' }, (_, { tier }) => tier !== 'front'),
    new Observed(client, { fieldSelector: 'metadata.name=n7' }, (name) => name === 'n7'),
  ];
  const churn = new Churn(path, names, () => storage.revision());
  let transport = api.server.transportAs(master);
  await Promise.all(informers.map((informer) => informer.start()));
  for (let count = 1; count <= writes; count++) {
    await churn.writeOnce(transport);
    if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve)); // a write in process does not wait for sockets
    if (count % dropEvery === 0) door.drop();
    if (count % restartEvery !== restartEvery / 2) continue;
    door.shut();
    for (let unseen = 0; unseen < 50; unseen++) await churn.writeOnce(transport);
    await api[Symbol.asyncDispose]();
    api = await start(storage); // it knows no revision of before: watches from there end with 410
    transport = api.server.transportAs(master);
    door.open();
  }
  await Promise.all(informers.map((informer) => informer.caughtUp(churn.log)));
  for (const informer of informers) informer.check(churn.log);
  assert.ok(
    informers.every(({ connections, lists }) => connections > writes / dropEvery / 2 && lists > 1),
    `${informers.map(({ connections, lists }) => `${connections} watches, ${lists} lists`)}`,
  );
  await Promise.all(informers.map((informer) => informer.stop()));
  await api[Symbol.asyncDispose]();
  await storage.close();
});

function start(storage: Storage): Promise<TestApiServer> {
  return startApiServer({ storage, staticTokens: new Map([['churn', master]]) });
}

interface Door extends AsyncDisposable {
  readonly port: number;
  /** Ends all connections. */
  drop(): void;
  /** Ends them, and lets nobody in until it is opened. */
  shut(): void;
  open(): void;
}

/** A way to the server that stays where it is when the server does not, and that can be slammed. */
async function openDoor(port: () => number): Promise<Door> {
  const open = new Set<Socket>();
  let isShut = false;
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => open.delete(socket));
  };
  const server = createServer((inner) => {
    if (isShut) return void inner.destroy();
    const outer = connect(port(), '127.0.0.1');
    keep(inner);
    keep(outer);
    inner.pipe(outer).pipe(inner);
    inner.once('close', () => outer.destroy());
    outer.once('close', () => inner.destroy());
  });
  const drop = (): void => open.forEach((socket) => void socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port, // a TCP server has an AddressInfo
    drop,
    shut: () => {
      isShut = true;
      drop();
    },
    open: () => {
      isShut = false;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        drop();
      }),
  };
}

function clientOf(port: number): KubeConfig {
  const client = new KubeConfig();
  client.loadFromClusterAndUser({ name: 'test', server: `https://127.0.0.1:${port}`, skipTLSVerify: true }, { name: 'churn', token: 'churn' });
  return client;
}

interface Segment {
  /** Of the list that it begins with. */
  readonly revision: number;
  readonly listed: Readonly<Record<string, string>>;
  readonly events: ChurnEvent[];
}

/** An informer, used as its documentation says, with everything that it was told. */
class Observed {
  connections = 0;
  readonly #segments: Segment[] = [];
  readonly #filter: ChurnFilter;
  readonly #informer: ListWatch<V1ConfigMap>;
  #isStopped = false;
  #told: () => void = () => undefined;

  constructor(client: KubeConfig, selector: { readonly labelSelector?: string; readonly fieldSelector?: string }, filter: ChurnFilter) {
    this.#filter = filter;
    const api = client.makeApiClient(CoreV1Api);
    const list = async () => {
      const answer = await api.listNamespacedConfigMap({ namespace, ...selector });
      const listed = Object.fromEntries(answer.items.map(({ metadata, data }) => [metadata?.name, data?.['value']]));
      this.#segments.push({ revision: Number(answer.metadata?.resourceVersion), listed, events: [] });
      this.#told();
      return answer;
    };
    const watch = new ListeningWatch(client, (type, object) => this.#hear(type, object));
    this.#informer = new ListWatch(path, watch, list, false, selector.labelSelector, selector.fieldSelector);
    this.#informer.on('connect', () => {
      this.connections++;
    });
    this.#informer.on('error', () => setTimeout(() => void (this.#isStopped || this.#informer.start()), 20));
  }

  get lists(): number {
    return this.#segments.length;
  }

  start(): Promise<void> {
    return this.#informer.start();
  }

  /** It tells of its own end as of an error. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#informer.stop();
  }

  #hear(type: string, { metadata, data }: V1ConfigMap): void {
    if (type === 'ERROR') return;
    const event = { type, name: metadata?.name ?? '', revision: Number(metadata?.resourceVersion), value: data?.['value'] ?? '' };
    this.#segments.at(-1)?.events.push(event);
    this.#told();
  }

  async caughtUp(log: readonly ChurnEntry[]): Promise<void> {
    const last = eventsOf(log, this.#filter).at(-1)?.revision ?? 0;
    const position = () => Math.max(this.#segments.at(-1)?.revision ?? 0, this.#segments.at(-1)?.events.at(-1)?.revision ?? 0);
    while (position() < last) {
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }

  /** Each list is the state of its moment; what follows it is every change, once and in order; the last one leads to the end. */
  check(log: readonly ChurnEntry[]): void {
    const expected = eventsOf(log, this.#filter);
    for (const [position, { revision, listed, events }] of this.#segments.entries()) {
      assert.deepEqual(sorted(listed), stateAt(log, this.#filter, revision), `the list at ${revision}`);
      const after = expected.filter((event) => event.revision > revision);
      const isLast = position === this.#segments.length - 1;
      assert.deepEqual(events, isLast ? after : after.slice(0, events.length), `the events after ${revision}`);
    }
    const cached = Object.fromEntries(this.#informer.list().map(({ metadata, data }) => [metadata?.name, data?.['value']]));
    assert.deepEqual(sorted(cached), stateAt(log, this.#filter, Number.MAX_SAFE_INTEGER), 'what the informer has at the end');
  }
}

function sorted(values: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}

class ListeningWatch extends Watch {
  readonly #hear: (type: string, object: V1ConfigMap) => void;

  constructor(client: KubeConfig, hear: (type: string, object: V1ConfigMap) => void) {
    super(client);
    this.#hear = hear;
  }

  override watch(...[where, query, callback, done]: Parameters<Watch['watch']>): ReturnType<Watch['watch']> {
    const heard: typeof callback = (type, object, whole) => {
      this.#hear(type, object);
      callback(type, object, whole);
    };
    return super.watch(where, query, heard, done);
  }
}
