import type { PodSpec } from '#api/types/core-v1.ts';
import type { Watchable } from '#base/watchable.ts';
import type { ReasonDoc } from '#startup/reason.ts';
import type { WakeKey } from '#startup/transition.ts';

/** What is known of a starting pod, by name. Each fact has one step that writes it. */
export type Facts = object;

export interface PodRef {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Why and until when a pod stops. */
export interface StopRequest {
  /** `finished`, `rejected`, `evicted`: the object stays and so do the logs; `deleted` and `orphan` leave nothing. */
  readonly reason: 'deleted' | 'finished' | 'rejected' | 'evicted' | 'orphan';
  /** Epoch; may come nearer while the pod stops, never moves away. */
  readonly deadlineMs: Watchable<number>;
  /** From the pod's source; absent: hooks and grace are read from the containers' annotations. */
  readonly spec?: PodSpec | undefined;
}

export interface Wait<Reason extends string> {
  readonly kind: 'wait';
  readonly reason: Reason;
  readonly detail: string;
  readonly wakeOn: readonly WakeKey[];
  /** The safety net: look again after so long even if nothing woke us. */
  readonly atLatestMs: number;
}

export type Outcome<W extends Facts, Reason extends string> =
  | { readonly kind: 'done'; readonly writes: W }
  | Wait<Reason>
  /** `word`: as users are told, where it is one of a kind that `reason` stands for. */
  | { readonly kind: 'reject'; readonly reason: Reason; readonly detail: string; readonly word?: string };

/** One box of the picture. `run` makes it so and is called on every sync; `undo` takes back what `find` sees in the world. */
export interface Step<R extends Facts, W extends Facts, Reason extends string> {
  /** Stable: span, metric label, address of the documentation. */
  readonly name: string;
  /** For people: "Mount the volumes". */
  readonly title: string;
  /** The runner hands over these and no others. */
  readonly reads: readonly (keyof R & string)[];
  readonly writes: readonly (keyof W & string)[];
  /** From here on `why` says that it is unusual. */
  readonly slowAfterMs: number;
  readonly reasons: Readonly<Record<Reason, ReasonDoc>>;
  run(pod: PodRef, facts: R, signal: AbortSignal): Promise<Outcome<W, Reason>>;
  find?(pod: PodRef, signal: AbortSignal): Promise<Partial<W>>;
  undo?(pod: PodRef, found: Partial<W>, stop: StopRequest, signal: AbortSignal): Promise<void>;
}

/** What the compiler shows when a step reads a fact that no earlier step writes. */
export interface NobodyWrites<Missing> {
  readonly nobodyWrites: Missing;
}

/** What the compiler shows when two steps that shall run beside each other are not independent. */
export interface NotBeside<Shared> {
  readonly oneNeedsOrBothWrite: Shared;
}

/** `unknown` (accepts anything) when `Have` covers `R`, otherwise a type that no step has and that names what is missing. */
type Covered<R, Have> = Have extends R ? unknown : NobodyWrites<Exclude<keyof R, keyof Have>>;
type Apart<W1, W2> = [keyof W1 & keyof W2] extends [never] ? unknown : NotBeside<keyof W1 & keyof W2>;

/** A step whose types are forgotten, for the runner: the pipeline has checked that the step gets the facts that it reads. */
export interface AnyStep {
  readonly name: string;
  readonly title: string;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly slowAfterMs: number;
  readonly reasons: Readonly<Record<string, ReasonDoc>>;
  run(pod: PodRef, facts: Facts, signal: AbortSignal): Promise<Outcome<Facts, string>>;
  find?(pod: PodRef, signal: AbortSignal): Promise<Facts>;
  undo?(pod: PodRef, found: Facts, stop: StopRequest, signal: AbortSignal): Promise<void>;
}

/** Steps that run one after another; those of one stage run beside each other. */
export class Pipeline<Have extends Facts> {
  readonly stages: readonly (readonly AnyStep[])[];
  /** Carries the type only. */
  declare readonly have: Have;

  private constructor(stages: readonly (readonly AnyStep[])[]) {
    this.stages = stages;
  }

  static startingFrom<Start extends Facts>(): Pipeline<Start> {
    return new Pipeline([]);
  }

  andThen<R extends Facts, W extends Facts, Reason extends string>(step: Step<R, W, Reason> & Covered<R, Have>): Pipeline<Have & W> {
    return new Pipeline([...this.stages, [step]]);
  }

  andBeside<R1 extends Facts, W1 extends Facts, Reason1 extends string, R2 extends Facts, W2 extends Facts, Reason2 extends string>(
    one: Step<R1, W1, Reason1> & Covered<R1, Have>,
    other: Step<R2, W2, Reason2> & Covered<R2, Have> & Apart<W1, W2>,
  ): Pipeline<Have & W1 & W2> {
    return new Pipeline([...this.stages, [one, other]]);
  }

  get steps(): readonly AnyStep[] {
    return this.stages.flat();
  }

  /** The diagram, one line a stage, with the facts that go in and come out. */
  picture(): string {
    const box = (step: AnyStep) =>
      `${step.name}${step.reads.length > 0 ? ` (${step.reads.join(', ')})` : ''}${step.writes.length > 0 ? ` -> ${step.writes.join(', ')}` : ''}`;
    return this.stages.map((stage) => stage.map(box).join('  ||  ')).join('\n  |\n');
  }
}
