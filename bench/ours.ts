import { setMaxListeners } from 'node:events';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import type { WatchEvent } from '#api/object.ts';
import type { Pod } from '#api/types/core-v1.ts';
import { TaskGroup } from '#base/task-group.ts';
import type { TestCluster } from '#testing/create-cluster.ts';

const never = new AbortController().signal;
setMaxListeners(0, never); // every call of a burst listens to it

type Waiter = { readonly name: string; readonly accept: (event: WatchEvent<Pod>) => boolean; readonly resolve: (pod: Pod) => void };

/** Pods made the way that users make them: created through the API, seen by a watching client. */
export class Ours {
  readonly #cluster: TestCluster;
  readonly #tasks = new TaskGroup((what, error) => {
    throw new Error(what, { cause: error });
  });
  readonly #waiters = new Set<Waiter>();
  #serial = 0;

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
    this.#tasks.run('watch of the pods', async (signal) => {
      for (;;) {
        for await (const event of cluster.client.watch(podKind, { namespace: 'default' }, signal)) this.#tell(event);
      }
    });
  }

  async close(): Promise<void> {
    await this.#tasks.close();
  }

  /** Create, until the watch shows the pod Running. */
  async start(): Promise<{ readonly pod: Pod; readonly tookMs: number }> {
    const name = `ours-${this.#serial++}`;
    const startedAt = performance.now();
    const running = this.#seen(name, (event) => event.type !== 'BOOKMARK' && event.object.status?.phase === 'Running');
    await this.#cluster.client.create(podKind, benchPod(name), never);
    const pod = await running;
    return { pod, tookMs: performance.now() - startedAt };
  }

  /** Kill of the container's process, until the watch shows it running again. */
  async crash(pod: Pod, pid: number): Promise<{ readonly pod: Pod; readonly tookMs: number }> {
    const before = pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
    const startedAt = performance.now();
    const again = this.#seen(pod.metadata.name, (event) => {
      const status = event.type === 'BOOKMARK' ? undefined : event.object.status?.containerStatuses?.[0];
      return status !== undefined && status.restartCount > before && status.state?.running !== undefined;
    });
    process.kill(pid, 'SIGKILL');
    return { pod: await again, tookMs: performance.now() - startedAt };
  }

  /** Delete, until the watch shows that the object is gone. */
  async remove(pod: Pod): Promise<{ readonly tookMs: number }> {
    const startedAt = performance.now();
    const gone = this.#seen(pod.metadata.name, (event) => event.type === 'DELETED');
    await this.#cluster.client.delete(podKind, pod.metadata, {}, never);
    await gone;
    return { tookMs: performance.now() - startedAt };
  }

  #seen(name: string, accept: Waiter['accept']): Promise<Pod> {
    return new Promise((resolve) => this.#waiters.add({ name, accept, resolve }));
  }

  #tell(event: WatchEvent<Pod>): void {
    if (event.type === 'BOOKMARK') return;
    for (const waiter of this.#waiters) {
      if (waiter.name !== event.object.metadata.name || !waiter.accept(event)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(event.object);
    }
  }
}

function benchPod(name: string) {
  return {
    metadata: { name, namespace: 'default' },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          image: 'docker.io/library/busybox:latest',
          imagePullPolicy: 'IfNotPresent',
          command: ['/bin/busybox', 'sh', '-c', 'trap "exit 0" TERM; sleep 100000 & wait'],
        },
      ],
    },
  };
}
