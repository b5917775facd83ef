import { setImmediate as nextTurn } from 'node:timers/promises';
import { aPod, aContainer as aSpec } from '#api/testing/objects.ts';
import { type Logger, silentLogger } from '#base/log.ts';
import { Cell } from '#base/watchable.ts';
import { StepWorld } from '../../pod-start/testing/step-world.ts';
import type { PodQueueDeps } from '../pod-queue.ts';
import type { RemoveDeps } from '../remove-container.ts';

/** A pod in a runtime in memory, whose container the test starts and ends, with a log as a runtime writes it. */
export class UpkeepWorld {
  readonly world = new StepWorld(aPod({ spec: { containers: [aSpec()] } }));
  readonly logs = '/pod-logs/default_web_uid-of-web/main';
  readonly busy = new Cell(false);
  readonly warnings: string[] = [];
  #sandboxId = '';

  get removeDeps(): RemoveDeps & PodQueueDeps {
    const { memory: runtime, cache, files, clock, events } = this.world;
    const emit = (_pod: unknown, { reason, message }: { readonly reason: string; readonly message: string }) =>
      void events.push(`${reason} ${message}`);
    const logger: Logger = {
      ...silentLogger,
      warn: (message, fields) => void this.warnings.push(`${message}: ${fields?.['error']}`),
    };
    return { runtime, cache, files, clock, logger, busy: this.busy, events: { emit }, http: { get: async () => 200 } };
  }

  async start(): Promise<string> {
    const { runtime, pod, memory, files, signal } = this.world;
    if (this.#sandboxId === '') this.#sandboxId = await this.world.sandbox();
    const request = { pod, container: aSpec(), kind: 'container', cgroupParent: '/c', podIPs: [], volumes: new Map() } as const;
    await runtime.startContainer({ ...request, sandboxId: this.#sandboxId }, signal);
    const id = memory.containerNamed('main') ?? '';
    await files.write((await memory.containerStatus(id, signal))?.logPath ?? '', 'its words', 0o640, signal);
    return id;
  }

  /** The program ends, and time passes until it may be started again. */
  async end(id: string): Promise<void> {
    this.world.memory.exit(id, 1);
    await this.world.cache.refreshContainer(id, this.world.signal);
    await this.settle();
    await this.world.clock.advance(60_000);
  }

  async logNames(): Promise<readonly string[]> {
    return (await this.world.files.list(this.logs, this.world.signal)).map(({ name }) => name);
  }

  /** So long that what follows a change is done. */
  async settle(): Promise<void> {
    await this.turns();
    await this.world.clock.advance(500);
    await this.turns();
  }

  /** Lets everything go on that can go on without time passing. */
  async turns(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  }
}
