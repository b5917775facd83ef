import { messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { HostSockets, LineConnection, Listener } from '../ports/sockets.ts';
import { type PartSpec, sameSpec } from './part.ts';
import { type KeeperPorts, PartKeeper } from './part-keeper.ts';
import { liveProcess } from './process-file.ts';
import { decodeRequest, encodeLine, type SupervisorReply } from './protocol.ts';

export interface SupervisorPorts extends KeeperPorts {
  readonly sockets: HostSockets;
}

export interface SupervisorSettings {
  readonly socketPath: string;
  /** What to keep running, for the next supervisor. */
  readonly partsFile: string;
  processFile(part: string): string;
}

interface Kept {
  readonly keeper: PartKeeper;
  readonly tasks: TaskGroup;
}

/** Keeps the parts of one cluster running and answers on a socket. The parts outlive it. */
export class Supervisor {
  readonly #settings: SupervisorSettings;
  readonly #ports: SupervisorPorts;
  readonly #kept = new Map<string, Kept>();
  readonly #followers = new Set<() => void>();
  readonly #conversations: TaskGroup;
  #listener: Listener | undefined;
  #onQuit: () => void = () => undefined;

  constructor(settings: SupervisorSettings, ports: SupervisorPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#conversations = new TaskGroup((what, error) => ports.log.warn('conversation failed', { what, error: messageOf(error) }));
  }

  /** Serves until somebody asks it to quit. Takes up what an earlier supervisor kept. */
  async run(onServing: () => void): Promise<void> {
    const quit = new Promise<void>((resolve) => {
      this.#onQuit = resolve;
    });
    await this.#ensure(await this.#remembered());
    this.#listener = await this.#ports.sockets.serve(this.#settings.socketPath, (connection) =>
      this.#conversations.run('control', (signal) => this.#converse(connection, signal)),
    );
    onServing();
    await quit;
    await this.#listener.close();
    await this.#conversations.close();
    for (const { tasks } of this.#kept.values()) await tasks.close();
  }

  async #converse(connection: LineConnection, signal: AbortSignal): Promise<void> {
    const reply = (message: SupervisorReply) => connection.send(encodeLine(message));
    const tellStatus = () => reply(this.#statusReply());
    try {
      for await (const line of connection.lines(signal)) {
        const request = decodeRequest(line);
        switch (request?.do) {
          case 'ensure':
            await this.#ensure(request.parts);
            await this.#remember();
            reply({ kind: 'done' });
            break;
          case 'status':
            tellStatus();
            break;
          case 'follow':
            this.#followers.add(tellStatus);
            tellStatus();
            break;
          case 'quit':
            reply({ kind: 'done' });
            this.#onQuit();
            break;
          case undefined:
            reply({ kind: 'refused', why: 'not a request of this protocol' });
        }
      }
    } finally {
      this.#followers.delete(tellStatus);
      connection.close();
    }
  }

  async #ensure(parts: readonly PartSpec[]): Promise<void> {
    for (const spec of parts) {
      const before = this.#kept.get(spec.name);
      if (before !== undefined && sameSpec(before.keeper.spec, spec)) continue;
      if (before !== undefined) await this.#end(before);
      this.#start(spec);
    }
  }

  #start(spec: PartSpec): void {
    const { log } = this.#ports;
    const keeper = new PartKeeper(spec, this.#settings.processFile(spec.name), this.#ports);
    const tasks = new TaskGroup((what, error) => log.error('keeper failed', { part: what, error: messageOf(error) }));
    keeper.status.subscribe(() => {
      for (const tell of [...this.#followers]) tell();
    });
    this.#kept.set(spec.name, { keeper, tasks });
    tasks.run(spec.name, (signal) => keeper.keep(signal));
  }

  async #end({ keeper, tasks }: Kept): Promise<void> {
    await tasks.close();
    const { files, processes, clock } = this.#ports;
    const process = await liveProcess(files, processes, this.#settings.processFile(keeper.spec.name));
    if (process === undefined) return;
    await processes.signal(process, 'SIGTERM');
    const late = clock.after(5000, () => void processes.signal(process, 'SIGKILL'));
    await processes.whenGone(process, new AbortController().signal);
    late.cancel();
  }

  #statusReply(): SupervisorReply {
    return { kind: 'status', parts: [...this.#kept.values()].map(({ keeper }) => keeper.status.get()) };
  }

  async #remember(): Promise<void> {
    const parts = [...this.#kept.values()].map(({ keeper }) => keeper.spec);
    await this.#ports.files.write(this.#settings.partsFile, encodeLine({ do: 'ensure', parts }), 0o600);
  }

  async #remembered(): Promise<readonly PartSpec[]> {
    const text = await this.#ports.files.readText(this.#settings.partsFile);
    const request = text === undefined ? undefined : decodeRequest(text);
    return request?.do === 'ensure' ? request.parts : [];
  }
}
