import { event as eventKind } from '#api/kinds/core/v1/event.ts';
import type { KubeObject } from '#api/object.ts';
import type { Event, ObjectReference } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import type { Logger } from '#base/log.ts';
import { TokenBucket } from '#base/token-bucket.ts';
import type { Watchable } from '#base/watchable.ts';
import { isNamespaceTerminating, isNotFound } from './api-error.ts';
import type { Client } from './client.ts';
import { EventAggregator } from './event-aggregator.ts';
import { EventSpamFilter } from './event-spam-filter.ts';
import { timestamp } from './timestamps.ts';

export interface EventRecorderOptions {
  /** Who tells: `kubelet`, `default-scheduler`... */
  readonly component: string;
  /** Name of the node, of parts that are on one. */
  readonly host?: string | undefined;
  /** Requests a second, and at once; absent or 0 a second: as many as there are. */
  readonly pace?: { readonly perSecond: number; readonly burst: number } | undefined;
  /** While it is true Normal events wait, some seconds at most: what they tell of has the machine. A Warning goes out at once, with all before it. */
  readonly busy?: Watchable<boolean> | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface EventContent {
  readonly type: 'Normal' | 'Warning';
  /** Upstream's word. */
  readonly reason: string;
  /** Cut at 1024 characters. */
  readonly message: string;
  /** For programs. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Tells people what happens to objects. */
export interface EventRecorder {
  /** Never waits and never fails: what cannot be delivered is dropped. */
  emit(about: ObjectReference, content: EventContent): void;
  /** Delivers what was emitted, in order, until the signal is aborted. Call once. */
  run(signal: AbortSignal): Promise<void>;
}

/** What an event says it is about. @param fieldPath `spec.containers{name}` for one container of a pod */
export function referenceTo(object: KubeObject, fieldPath?: string): ObjectReference {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid, resourceVersion, fieldPath };
}

const QUEUE_LIMIT = 1000;
const KNOWN_LIMIT = 4096;
const MESSAGE_LIMIT = 1024;
/** Upstream's words. */
const FOLDED = '(combined from similar events): ';
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 10_000;
/** Upstream's number. */
const MAX_TRIES = 12;

/** Repeats of an event are counted up on the first instead of being stored anew. */
export function createEventRecorder(client: Client, options: EventRecorderOptions): EventRecorder {
  return new QueuedRecorder(client, options);
}

interface Emitted {
  readonly about: ObjectReference;
  readonly content: EventContent;
  /** Of all that are counted on one event. */
  readonly key: string;
  readonly atMs: number;
}

interface Known {
  readonly event: Event;
  readonly count: number;
}

/** A Normal event waits until others have rested so long, but not longer than that. */
const REST_MS = 50;
const LONGEST_HOLD_MS = 5000;

class QueuedRecorder implements EventRecorder {
  readonly #client: Client;
  readonly #options: EventRecorderOptions;
  readonly #spam: EventSpamFilter;
  readonly #aggregator: EventAggregator;
  readonly #pace: TokenBucket;
  readonly #queue: Emitted[] = [];
  /** By everything that makes two events the same; the first is the one that was not repeated for longest. */
  readonly #known = new Map<string, Known>();
  #wake: (() => void) | undefined;
  #restsSinceMs = Number.NEGATIVE_INFINITY;
  #lastNameMicros = 0;

  constructor(client: Client, options: EventRecorderOptions) {
    this.#client = client;
    this.#options = options;
    this.#spam = new EventSpamFilter(options.clock);
    this.#aggregator = new EventAggregator(options.clock);
    this.#pace = new TokenBucket(options.pace?.perSecond ?? 0, options.pace?.burst ?? 0, options.clock);
  }

  emit(about: ObjectReference, content: EventContent): void {
    if (this.#queue.length >= QUEUE_LIMIT || !this.#spam.admits(objectOf(about))) return;
    const group = JSON.stringify([objectOf(about), content.type, content.reason]);
    const isFolded = this.#aggregator.folds(group, content.message);
    const message = `${isFolded ? FOLDED : ''}${content.message}`.slice(0, MESSAGE_LIMIT);
    const key = isFolded ? group : JSON.stringify([group, about.fieldPath, message]);
    this.#queue.push({ about, content: { ...content, message }, key, atMs: this.#options.clock.now() });
    this.#wake?.();
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake?.(), { once: true });
    const unsubscribe = this.#options.busy?.subscribe((isBusy) => {
      if (isBusy) return;
      this.#restsSinceMs = this.#options.clock.monotonic();
      this.#wake?.();
    });
    while (!signal.aborted) {
      const holdMs = this.#holdMs();
      const next = holdMs > 0 ? undefined : this.#queue.shift();
      if (next === undefined) await this.#pause(holdMs);
      else await this.#deliver(next, signal);
    }
    unsubscribe?.();
  }

  /** How long the first of the queue waits for others to rest, unless something comes up; 0 for an empty queue too. */
  #holdMs(): number {
    const { busy, clock } = this.#options;
    const [first] = this.#queue;
    if (busy === undefined || first === undefined || this.#queue.some(({ content }) => content.type === 'Warning')) return 0;
    const longestMs = first.atMs + LONGEST_HOLD_MS - clock.now();
    const restMs = busy.get() ? longestMs : this.#restsSinceMs + REST_MS - clock.monotonic();
    return Math.max(0, Math.min(longestMs, restMs));
  }

  /** Until something is emitted, or that time is over; 0: there is nothing to wait for but an event. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms > 0 ? this.#options.clock.after(ms, resolve) : undefined;
      this.#wake = () => {
        timer?.cancel();
        resolve();
      };
    });
  }

  async #deliver(emitted: Emitted, signal: AbortSignal): Promise<void> {
    for (let tries = 1; !signal.aborted; tries += 1) {
      try {
        await this.#pace.take(signal);
        return await this.#send(emitted, signal);
      } catch (error) {
        const isWorthIt = error instanceof AppError && error.retry !== 'never' && tries < MAX_TRIES;
        if (signal.aborted || isNamespaceTerminating(error)) return;
        if (!isWorthIt) return this.#options.logger.warn('an event is lost', { reason: emitted.content.reason, error: messageOf(error) });
        const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), LAST_RETRY_MS);
        await this.#options.clock.sleep(delayMs, signal).catch(() => undefined); // an aborted wait ends the loop
      }
    }
  }

  async #send(emitted: Emitted, signal: AbortSignal): Promise<void> {
    const { key } = emitted;
    const known = this.#known.get(key);
    const counted = known === undefined ? undefined : await this.#countUp(known, emitted, signal);
    const next = counted ?? (await this.#create(emitted, (known?.count ?? 0) + 1, signal));
    this.#known.delete(key);
    this.#known.set(key, next);
    const [oldest] = this.#known.size > KNOWN_LIMIT ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  /** @returns `undefined` when the first event is gone: events live for an hour */
  async #countUp(known: Known, emitted: Emitted, signal: AbortSignal): Promise<Known | undefined> {
    const count = known.count + 1;
    const { message } = emitted.content;
    const changed = { count, lastTimestamp: timestamp(emitted.atMs), ...(message === known.event.message ? {} : { message }) };
    try {
      const event = await this.#client.patch(eventKind, known.event.metadata, 'merge', changed, '', signal);
      return { event, count };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #create(emitted: Emitted, count: number, signal: AbortSignal): Promise<Known> {
    const { component, host } = this.#options;
    const { about } = emitted;
    const { annotations, ...content } = emitted.content;
    const namespace = about.namespace === undefined || about.namespace === '' ? 'default' : about.namespace;
    const event = await this.#client.create(
      eventKind,
      {
        metadata: { namespace, name: this.#nameFor(about, emitted.atMs), annotations },
        involvedObject: about,
        ...content,
        source: { component, host },
        reportingComponent: component,
        reportingInstance: host ?? '',
        firstTimestamp: timestamp(emitted.atMs),
        lastTimestamp: timestamp(emitted.atMs),
        count,
      },
      signal,
    );
    return { event, count };
  }

  /** Upstream's `<object>.<nanoseconds in hex>`; no two of a recorder are the same. */
  #nameFor(about: ObjectReference, atMs: number): string {
    this.#lastNameMicros = Math.max(this.#lastNameMicros + 1, Math.floor(atMs * 1000));
    return `${about.name ?? ''}.${(BigInt(this.#lastNameMicros) * 1000n).toString(16)}`;
  }
}

function objectOf(about: ObjectReference): string {
  return `${about.apiVersion} ${about.kind} ${about.namespace}/${about.name} ${about.uid}`;
}
