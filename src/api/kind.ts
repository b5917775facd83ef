import type { Column } from './column.ts';
import { plainColumns } from './column.ts';
import { semanticEqual } from './deep-equal.ts';
import type { FieldProblem } from './field-problem.ts';
import type { KubeObject } from './object.ts';
import { type NameRule, validateMetadata, validateMetadataUpdate } from './rules/metadata.ts';
import { type MessageSchema, schemaOf } from './schema/message-schema.ts';

/** What a client needs to know of a kind. */
export interface KindRef<T extends KubeObject = KubeObject> {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** Never set: carries the type of the kind's objects. */
  readonly objectType?: T;
}

export type Subresource =
  | 'status'
  | 'binding'
  | 'eviction'
  | 'log'
  | 'exec'
  | 'attach'
  | 'portforward'
  | 'token'
  | 'finalize'
  | 'resize'
  | 'ephemeralcontainers'
  | 'scale'
  | 'approval'
  | 'proxy';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** How a subresource takes a whole object of the kind but changes a part of it only: `resize`, `ephemeralcontainers`, `approval`. */
export interface PartialUpdate<T extends KubeObject> {
  /** The previous object with what this subresource may change as `next` has it. */
  prepare(next: T, previous: T): T;
  validate(next: T, previous: T): readonly FieldProblem[];
  /** Beside metadata, paths of what may come to be owned through it, `*` for any item of a list: `spec.containers.*.resources`. Absent: all. */
  readonly fields?: readonly string[];
}

/** How `/scale` sees an object. */
export interface ScaleView<T extends KubeObject> {
  read(object: T): { readonly specReplicas: number; readonly statusReplicas: number; readonly selector: string };
  write(object: T, replicas: number): T;
}

/** A kind whose objects are stored as those of another kind: the second version of an API. */
export interface StoredAs<T extends KubeObject> {
  /** A function, since kinds do not import each other at load. */
  kind(): KindRef;
  fromStored(stored: KubeObject): T;
  /** @param previous what is stored now, for what this version cannot say */
  toStored(object: T, previous: KubeObject | undefined): KubeObject;
}

/** Everything about a kind. All functions are pure: they return a new object, or the same one when nothing changes. */
export interface Kind<T extends KubeObject = KubeObject> extends KindRef<T> {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly schema: MessageSchema;
  /** Which names are allowed. */
  readonly nameRule: NameRule;
  /** Beyond `metadata.name` and `metadata.namespace`; each reads '' where the object has nothing. */
  readonly selectableFields: Readonly<Record<string, FieldReader<T>['read']>>;
  readonly columns: readonly Column<T>[];
  /** Of the object itself, sorted. */
  readonly verbs: readonly Verb[];
  readonly subresources: readonly Subresource[];
  /** Below the root of the store: `pods` for `/registry/pods/…`. */
  readonly storagePrefix: string;
  /** Whether a PUT to a name that does not exist creates the object. */
  readonly createsOnUpdate: boolean;
  /** Whether a PUT without a resourceVersion is taken: the last write wins. */
  readonly allowsUnconditionalUpdate: boolean;
  /** Whether the answer to a delete is the object instead of a `Status`. */
  readonly answersDeleteWithObject: boolean;
  /** What a delete without a policy does to dependents; `None`: whatever the policy, nothing waits for them. */
  readonly defaultPropagation: 'Background' | 'Orphan' | 'None';
  /** Said when a delete names no policy. */
  readonly defaultPropagationWarning: string | undefined;
  /** Said with every answer: what to use instead. */
  readonly deprecation: string | undefined;
  /** Paths (`status`, `metadata.labels`) that an endpoint does not take and so nobody comes to own through it; '' is the object itself. */
  readonly resetFields: Readonly<Partial<Record<'' | Subresource, readonly string[]>>>;
  readonly partialUpdates: Readonly<Partial<Record<Subresource, PartialUpdate<T>>>>;
  readonly scale: ScaleView<T> | undefined;
  /** Absent: the kind is stored as it is. */
  readonly storedAs: StoredAs<T> | undefined;

  setDefaults(object: T): T;
  /** What whoever writes the object is told beside the answer. @param previous undefined: the object is new */
  warnings(object: T, previous: T | undefined): readonly string[];
  /** What a client may not set when it creates: status, generation. */
  prepareCreate(object: T): T;
  /** What an update of the object itself may not change: status. Keeps `metadata.generation` true. */
  prepareUpdate(next: T, previous: T): T;
  /** What an update of `/status` may not change: everything else. */
  prepareStatusUpdate(next: T, previous: T): T;
  /** Of an object about to be created, defaulted and with its name made. */
  validate(object: T): readonly FieldProblem[];
  validateUpdate(next: T, previous: T): readonly FieldProblem[];
  validateStatusUpdate(next: T, previous: T): readonly FieldProblem[];
  /** Present when a delete may first mark the object: seconds to wait, 0 for at once. */
  gracefulDeletion?(object: T, requestedGraceSeconds: number | undefined): number;
  /** Conditions of the object's row in a table. */
  rowConditions?(object: T): readonly RowCondition[];
}

/** A method, so that a kind of pods is a kind of objects. */
interface FieldReader<T extends KubeObject> {
  read(object: T): string;
}

export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export interface KindInit<T extends KubeObject> extends KindRef<T> {
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Name of the message in `src/api/proto`, such as `core.v1.Pod`. */
  readonly message: string;
  readonly nameRule?: NameRule;
  readonly selectableFields?: Kind<T>['selectableFields'];
  readonly columns?: readonly Column<T>[];
  readonly verbs?: readonly Verb[];
  readonly subresources?: readonly Subresource[];
  readonly storagePrefix?: string;
  readonly createsOnUpdate?: boolean;
  readonly allowsUnconditionalUpdate?: boolean;
  readonly answersDeleteWithObject?: boolean;
  readonly defaultPropagation?: Kind<T>['defaultPropagation'];
  readonly defaultPropagationWarning?: string;
  readonly deprecation?: string;
  /** Beyond `status` on the object itself and `spec` on its status. */
  readonly resetFields?: Kind<T>['resetFields'];
  readonly partialUpdates?: Kind<T>['partialUpdates'];
  readonly scale?: ScaleView<T>;
  readonly storedAs?: StoredAs<T>;
  /** `metadata.generation` starts at 1 and grows when the spec changes, when the function says so, or (`one`) never. */
  readonly generation?: 'none' | 'spec' | 'one' | ((next: T, previous: T) => boolean);
  /** Whether who creates the object may give its status with it. */
  readonly keepsStatusOnCreate?: boolean;
  setDefaults?(object: T): T;
  warnings?(object: T, previous: T | undefined): readonly string[];
  /** Beyond what the generation and the status subresource ask for. */
  prepareCreate?(object: T): T;
  prepareUpdate?(next: T, previous: T): T;
  prepareStatusUpdate?(next: T, previous: T): T;
  /** Beyond metadata; of new objects and of updated ones. */
  validate?(object: T): readonly FieldProblem[];
  /** Of new objects only. */
  validateCreate?(object: T): readonly FieldProblem[];
  /** What may not change. */
  validateUpdate?(next: T, previous: T): readonly FieldProblem[];
  validateStatusUpdate?(next: T, previous: T): readonly FieldProblem[];
  gracefulDeletion?(object: T, requestedGraceSeconds: number | undefined): number;
  rowConditions?(object: T): readonly RowCondition[];
}

/** `v1`, or `apps/v1`. */
export function apiVersionOf(kind: Pick<KindRef, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** `pods`, or `deployments.apps`. */
export function groupResourceOf(kind: Pick<KindRef, 'group' | 'plural'>): string {
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
}

/** `Pod`, or `Deployment.apps`. */
export function groupKindOf(kind: Pick<KindRef, 'group' | 'kind'>): string {
  return kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
}

export function defineKind<T extends KubeObject>(init: KindInit<T>): Kind<T> {
  const { message, generation = 'none', nameRule = 'subdomain', validateCreate: _, ...given } = init;
  const hasStatus = init.subresources?.includes('status') === true;
  const kind: Kind<T> = {
    ...given,
    singular: init.singular ?? init.kind.toLowerCase(),
    shortNames: init.shortNames ?? [],
    categories: init.categories ?? [],
    // A getter: a schema is parsed when it is first needed.
    get schema() {
      return schemaOf(message);
    },
    nameRule,
    selectableFields: init.selectableFields ?? {},
    columns: init.columns ?? plainColumns,
    verbs: init.verbs ?? allVerbs,
    subresources: init.subresources ?? [],
    storagePrefix: init.storagePrefix ?? init.plural,
    createsOnUpdate: init.createsOnUpdate ?? false,
    allowsUnconditionalUpdate: init.allowsUnconditionalUpdate ?? true,
    answersDeleteWithObject: init.answersDeleteWithObject ?? false,
    defaultPropagation: init.defaultPropagation ?? 'Background',
    defaultPropagationWarning: init.defaultPropagationWarning,
    deprecation: init.deprecation,
    resetFields: { ...(hasStatus ? { '': ['status'], status: ['spec'] } : {}), ...init.resetFields },
    partialUpdates: { ...(init.scale === undefined ? {} : { scale: wholeUpdate(() => kind) }), ...init.partialUpdates },
    scale: init.scale,
    storedAs: init.storedAs,
    warnings: (object, previous) => init.warnings?.(object, previous) ?? [],
    setDefaults: (object) => init.setDefaults?.(object) ?? object,
    prepareCreate: (object) => {
      const fresh = withGeneration(
        hasStatus && init.keepsStatusOnCreate !== true ? { ...object, status: {} } : object, // there from the start: patches add to it
        generation === 'none' ? undefined : 1,
      );
      return init.prepareCreate?.(fresh) ?? fresh;
    },
    prepareUpdate: (next, previous) => {
      const kept = hasStatus ? withPart(next, 'status', previous) : next;
      const before = previous.metadata.generation;
      const isChanged =
        typeof generation === 'function'
          ? generation(kept, previous)
          : generation === 'spec' && !semanticEqual(part(kept, 'spec'), part(previous, 'spec'));
      const counted = withGeneration(kept, isChanged ? (before ?? 0) + 1 : before);
      return init.prepareUpdate?.(counted, previous) ?? counted;
    },
    prepareStatusUpdate: (next, previous) => {
      const kept = withGeneration(withPart({ ...previous, metadata: next.metadata }, 'status', next), previous.metadata.generation);
      return init.prepareStatusUpdate?.(kept, previous) ?? kept;
    },
    validate: (object) => [
      ...validateMetadata(object.metadata, init.scope, nameRule),
      ...(init.validate?.(object) ?? []),
      ...(init.validateCreate?.(object) ?? []),
    ],
    validateUpdate: (next, previous) => [
      ...validateMetadataUpdate(next.metadata, previous.metadata),
      ...(init.validate?.(next) ?? []),
      ...(init.validateUpdate?.(next, previous) ?? []),
    ],
    validateStatusUpdate: (next, previous) => [
      ...validateMetadataUpdate(next.metadata, previous.metadata),
      ...(init.validateStatusUpdate?.(next, previous) ?? []),
    ],
  };
  return kind;
}

/** What goes through the subresource is a change of the object like any other. */
function wholeUpdate<T extends KubeObject>(kindOf: () => Kind<T>): PartialUpdate<T> {
  return {
    prepare: (next, previous) => kindOf().prepareUpdate(next, previous),
    validate: (next, previous) => kindOf().validateUpdate(next, previous),
  };
}

function part(object: KubeObject, key: 'spec' | 'status'): unknown {
  return key in object ? Object.entries(object).find(([name]) => name === key)?.[1] : undefined;
}

function without<T extends KubeObject>(object: T, key: 'status'): T {
  if (!(key in object)) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key)) as T; // `status` is optional in every kind
}

/** `object` with one part as `source` has it. */
function withPart<T extends KubeObject>(object: T, key: 'status', source: T): T {
  const value = part(source, key);
  return value === undefined ? without(object, key) : { ...object, [key]: value };
}

function withGeneration<T extends KubeObject>(object: T, generation: number | undefined): T {
  if (object.metadata.generation === generation) return object;
  const { generation: _, ...metadata } = object.metadata;
  return { ...object, metadata: generation === undefined ? metadata : { ...metadata, generation } };
}
