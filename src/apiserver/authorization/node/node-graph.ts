import type { Kind } from '#api/kind.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { podReferences, volumeSecretsForKubelet } from '#api/pod/references.ts';
import type { PersistentVolume, Pod } from '#api/types/core-v1.ts';
import type { Change } from '../../registry/change.ts';
import type { IndexedObject } from '../../registry/indexed-object.ts';
import type { Registry } from '../../registry/registry.ts';

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** What may lead from a pod to an object; the plural of its resource. */
export type Reached = 'secrets' | 'configmaps' | 'persistentvolumeclaims' | 'resourceclaims' | 'serviceaccounts';

/** Other names that such a pod may come to have, beside those of its spec when it was bound. */
const lateReferences = ['"ephemeralContainers":', '"resourceClaimStatuses":', '"extendedResourceClaimStatus":'];

interface PlacedPod {
  readonly uid: string;
  readonly node: string;
  /** Keys of {@link NodeGraph.#nodesByTarget}. */
  readonly targets: readonly string[];
}

interface PlacedVolume {
  /** `namespace/name` */
  readonly claim: string;
  readonly secrets: readonly string[];
}

/**
 * Which objects each node has to do with, by the pods that it was given. Kept with every change: a node may read a pod's secret in the turn
 * of the loop in which it learns of the pod.
 */
export class NodeGraph {
  readonly #registry: Registry;
  readonly #pods = new Map<string, PlacedPod>();
  /** `resource/namespace/name` → node → how many of its pods name it. */
  readonly #nodesByTarget = new Map<string, Map<string, number>>();
  readonly #volumes = new Map<string, PlacedVolume>();
  /** `namespace/name` of a secret → volumes that name it. */
  readonly #volumesBySecret = new Map<string, Set<string>>();

  /** @param kinds of the registry */
  constructor(registry: Registry, kinds: readonly Kind[]) {
    this.#registry = registry;
    this.#follow(podKind, this.#pods, (key, object) => this.#setPod(key, object));
    const volumeKind = kinds.find(({ group, plural }) => group === '' && plural === 'persistentvolumes');
    if (volumeKind !== undefined) this.#follow(volumeKind, this.#volumes, (key, object) => this.#setVolume(key, object));
  }

  /** Whether a pod of the node leads to the object. */
  reaches(node: string, resource: Reached, namespace: string, name: string): boolean {
    if (this.#nodesByTarget.get(`${resource}/${namespace}/${name}`)?.has(node) === true) return true;
    if (resource !== 'secrets') return false;
    return [...(this.#volumesBySecret.get(`${namespace}/${name}`) ?? [])].some((volume) => this.hasVolume(node, volume));
  }

  hasPod(node: string, namespace: string, name: string): boolean {
    return this.#pods.get(`${namespace}/${name}`)?.node === node;
  }

  /** Whether a pod of the node uses the claim that the PersistentVolume is bound to. */
  hasVolume(node: string, name: string): boolean {
    const volume = this.#volumes.get(name);
    return volume !== undefined && this.#nodesByTarget.get(`persistentvolumeclaims/${volume.claim}`)?.has(node) === true;
  }

  #follow(
    kind: Pick<Kind, 'group' | 'version' | 'plural'>,
    known: ReadonlyMap<string, unknown>,
    set: (key: string, object: IndexedObject | undefined) => void,
  ): void {
    const index = this.#registry.index(kind);
    const listener = ({ type, object }: Change) => set(object.key, type === 'DELETED' ? undefined : object);
    const onReset = () => {
      for (const key of [...known.keys()]) set(key, undefined);
      for (const object of index.list('')) set(object.key, object);
    };
    index.subscribe(listener, onReset);
    onReset();
  }

  #setPod(key: string, object: IndexedObject | undefined): void {
    const node = object?.facts.fields['spec.nodeName'] ?? '';
    const known = this.#pods.get(key);
    if (known === undefined && node === '') return;
    // On the way of every status of every pod: most change nothing here, which is seen without parsing them.
    const isSame = known !== undefined && object !== undefined && known.node === node && known.uid === object.facts.uid;
    if (isSame && !lateReferences.some((field) => object.item.includes(field))) return;
    if (known !== undefined) {
      this.#pods.delete(key);
      for (const target of known.targets) this.#count(target, known.node, -1);
    }
    if (object === undefined || node === '') return;
    const targets = targetsOf(object.object() as Pod); // the index of pods has pods
    this.#pods.set(key, { uid: object.facts.uid, node, targets });
    for (const target of targets) this.#count(target, node, 1);
  }

  #count(target: string, node: string, by: 1 | -1): void {
    const nodes = this.#nodesByTarget.get(target) ?? new Map<string, number>();
    const count = (nodes.get(node) ?? 0) + by;
    if (count > 0) nodes.set(node, count);
    else nodes.delete(node);
    if (nodes.size > 0) this.#nodesByTarget.set(target, nodes);
    else this.#nodesByTarget.delete(target);
  }

  #setVolume(key: string, object: IndexedObject | undefined): void {
    for (const secret of this.#volumes.get(key)?.secrets ?? []) {
      const volumes = this.#volumesBySecret.get(secret);
      volumes?.delete(key);
      if (volumes?.size === 0) this.#volumesBySecret.delete(secret);
    }
    this.#volumes.delete(key);
    const volume = object?.object() as PersistentVolume | undefined; // the index of volumes has volumes
    const claim = volume?.spec?.claimRef;
    if (volume === undefined || claim === undefined) return;
    const secrets = volumeSecretsForKubelet(volume);
    this.#volumes.set(key, { claim: `${claim.namespace ?? ''}/${claim.name ?? ''}`, secrets });
    for (const secret of secrets) this.#volumesBySecret.set(secret, (this.#volumesBySecret.get(secret) ?? new Set()).add(key));
  }
}

function targetsOf(pod: Pod): readonly string[] {
  // A node makes mirror pods itself: what one names it must not come to read by that.
  if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return [];
  const { serviceAccount, secrets, configMaps, claims, resourceClaims } = podReferences(pod);
  const keyed = (resource: Reached, names: readonly string[]) => names.map((name) => `${resource}/${pod.metadata.namespace}/${name}`);
  return [
    ...keyed('serviceaccounts', serviceAccount === '' ? [] : [serviceAccount]),
    ...keyed('secrets', secrets),
    ...keyed('configmaps', configMaps),
    ...keyed('persistentvolumeclaims', claims),
    ...keyed('resourceclaims', resourceClaims),
  ];
}
