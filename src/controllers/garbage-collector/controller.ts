import { AppError, messageOf } from '#base/errors.ts';
import { TaskGroup } from '#base/task-group.ts';
import { isNotFound } from '#client/api-error.ts';
import { WorkQueue } from '#client/work-queue.ts';
import type { ControllerContext } from '../context.ts';
import { type Effect, type GraphNode, OwnerGraph } from './graph.ts';
import { LiveObjects } from './live-objects.ts';
import { Monitors } from './monitors.ts';
import { blockersOf, planObject } from './plan.ts';

/** An owner exists, but its watch has not told of it yet. */
class OwnerNotSeen extends AppError {
  readonly code = 'OWNER_NOT_SEEN';
  readonly retry = 'now';
}

const WORKERS = 8;

/** Deletes what belongs to objects that are gone, and lets go of those that wait for it. */
export async function runGarbageCollector(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { clock, logger, timings } = context;
  // A cluster that starts has better things to do.
  await clock.sleep(timings.garbageCollectorDelayMs, signal);
  const collector = new GarbageCollector(context);
  const tasks = new TaskGroup((what, error) => logger.error('the garbage collector ended', { what, error: messageOf(error) }));
  try {
    await collector.refresh(signal); // who belongs to whom must be known before anything goes because of it
    tasks.run('collect', (inner) => collector.run(inner));
    for (;;) {
      await clock.sleep(timings.discoveryIntervalMs, signal);
      await collector.refresh(signal);
    }
  } finally {
    await tasks.close();
    await collector.close();
  }
}

class GarbageCollector {
  readonly #context: ControllerContext;
  readonly #graph = new OwnerGraph();
  readonly #monitors: Monitors;
  readonly #live: LiveObjects;
  readonly #looks: WorkQueue;
  readonly #orphans: WorkQueue;
  /** While new kinds are being listed nobody is released: their objects may be dependents. */
  #refreshing: Promise<void> = Promise.resolve();

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#monitors = new Monitors(context, {
      changed: (identity, metadata) =>
        this.#follow(metadata === undefined ? this.#graph.forget(identity.uid) : this.#graph.observe(identity, metadata)),
      lost: (uid) => this.#follow(this.#graph.lose(uid)),
    });
    this.#live = new LiveObjects(context.client, (type) => this.#monitors.kindOf(type));
    const { clock, logger } = context;
    this.#looks = new WorkQueue({ clock, logger, workers: WORKERS });
    this.#orphans = new WorkQueue({ clock, logger, workers: WORKERS });
  }

  async refresh(signal: AbortSignal): Promise<void> {
    this.#refreshing = this.#monitors.refresh(signal).catch((error: unknown) => {
      if (!signal.aborted) this.#context.logger.warn('the kinds cannot be discovered', { error: messageOf(error) });
    });
    await this.#refreshing;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#looks.run((uid, inner) => this.#look(uid, inner), signal),
      this.#orphans.run((uid, inner) => this.#orphan(uid, inner), signal),
    ]);
  }

  async close(): Promise<void> {
    await this.#monitors.close();
  }

  #follow(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'look':
          this.#looks.add(effect.uid);
          break;
        case 'orphan':
          this.#orphans.add(effect.uid);
          break;
        case 'absent':
          this.#live.rememberAbsent(effect.identity);
          break;
        case 'misplaced':
          this.#tellMisplaced(effect);
          break;
      }
    }
  }

  #tellMisplaced({ dependent, owner }: Extract<Effect, { readonly kind: 'misplaced' }>): void {
    const { apiVersion, kind, namespace, name, uid } = owner;
    const shown = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
    const message = `ownerRef ${shown} does not exist in namespace ${JSON.stringify(namespace)}`;
    this.#context.events.emit(dependent, { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message });
  }

  async #look(uid: string, signal: AbortSignal): Promise<void> {
    const node = this.#graph.get(uid);
    if (node === undefined || (node.isBeingDeleted && node.waitsFor !== 'deleted-dependents')) return; // its end is on its way
    const { identity } = node;
    if (node.isVirtual && this.#live.isUnreachable(identity)) return; // its dependent cannot have such an owner: nothing is ever known of it
    const live = await this.#live.get(identity, signal);
    if (live === undefined) {
      this.#follow(this.#graph.confirmAbsent(identity));
      return;
    }
    if (node.waitsFor === 'deleted-dependents') return this.#release(node, signal);
    if ((live.metadata.ownerReferences ?? []).length > 0) {
      const owners = await this.#live.classify(live, signal);
      if (owners === undefined) return; // an owner that cannot exist: the object is left alone
      const plan = planObject(live.metadata, owners, node.dependents);
      if (plan.kind === 'disown') await this.#live.disown(identity, plan.uids, signal);
      if (plan.kind === 'delete') {
        const seen = plan.unblocksOwners ? await this.#live.unblockOwners(live, signal) : live;
        await this.#live.delete(seen, plan.propagation, signal);
      }
    }
    if (this.#graph.get(uid)?.isVirtual === true) throw new OwnerNotSeen({ message: `${identity.kind} ${identity.name} was not seen yet` });
  }

  /** Ends the wait of an owner for its dependents, or sees to it that they go. */
  async #release(node: GraphNode, signal: AbortSignal): Promise<void> {
    await this.#refreshing;
    const blockers = blockersOf(node);
    if (blockers.length === 0) return this.#live.removeFinalizer(node.identity, 'foregroundDeletion', signal);
    for (const blocker of blockers) {
      if (blocker.waitsFor !== 'deleted-dependents') this.#looks.add(blocker.identity.uid);
    }
  }

  async #orphan(uid: string, signal: AbortSignal): Promise<void> {
    await this.#refreshing;
    const node = this.#graph.get(uid);
    if (node?.waitsFor !== 'orphaned-dependents') return;
    for (const { identity } of node.dependents) {
      await this.#live.disown(identity, [uid], signal).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
    await this.#live.removeFinalizer(node.identity, 'orphan', signal);
  }
}
