import type { Node, NodeSpec, NodeStatus, Taint } from '#api/types/core-v1.ts';
import { labelsToRestore, nodeLabels } from './node-labels.ts';
import type { NodeFacts } from './node-status.ts';

/** What a node's object says beside its status. */
export interface NodeWishes {
  /** Beside the labels of every node. */
  readonly labels: Readonly<Record<string, string>>;
  /** Only for a node that is new. */
  readonly taints: readonly Taint[];
  /** '': none. */
  readonly providerID: string;
  /** A controller attaches and detaches volumes. */
  readonly hasAttachController: boolean;
  /** A controller of the cloud completes the node. */
  readonly hasExternalCloud: boolean;
  /** Those that the node was told to have. */
  readonly givenAddresses: readonly string[];
}

interface NodeMetadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const attachAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach';
const addressAnnotation = 'alpha.kubernetes.io/provided-node-ip';
/** Until the cloud's controller has seen the node. */
const cloudTaint: Taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };

/** The object of a node that is new. */
export function newNode(
  name: string,
  facts: NodeFacts,
  wishes: NodeWishes,
  status: NodeStatus,
): { metadata: NodeMetadata; spec: NodeSpec; status: NodeStatus } {
  const { taints, providerID, hasExternalCloud } = wishes;
  const all = [...taints, ...(hasExternalCloud ? [cloudTaint] : [])];
  return {
    metadata: { name, labels: labelsOf(facts, wishes), annotations: annotationsOf(wishes) },
    spec: { ...(all.length === 0 ? {} : { taints: all }), ...(providerID === '' ? {} : { providerID }) },
    status,
  };
}

/** The change of its metadata that makes an existing node this kubelet's, `undefined` when there is none; its taints and other labels are not touched. */
export function adoption({ metadata }: Pick<Node, 'metadata'>, facts: NodeFacts, wishes: NodeWishes): object | undefined {
  const wanted = annotationsOf(wishes);
  const annotations = changesOf([attachAnnotation, addressAnnotation], wanted, metadata.annotations ?? {});
  return patchOf(labelsToRestore(labelsOf(facts, wishes), metadata.labels ?? {}), annotations);
}

/** The change that each report makes of the node's metadata, if it has been changed by others. */
export function restoration({ metadata }: Pick<Node, 'metadata'>, facts: NodeFacts, wishes: NodeWishes): object | undefined {
  const system = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': facts.host.architecture };
  const annotations = changesOf([addressAnnotation], annotationsOf(wishes), metadata.annotations ?? {});
  return patchOf(labelsToRestore(system, metadata.labels ?? {}), annotations);
}

function labelsOf(facts: NodeFacts, { labels }: NodeWishes): Readonly<Record<string, string>> {
  return nodeLabels({ hostname: facts.hostname, architecture: facts.host.architecture }, labels);
}

function annotationsOf({ hasAttachController, hasExternalCloud, givenAddresses }: NodeWishes): Readonly<Record<string, string>> {
  return {
    ...(hasAttachController ? { [attachAnnotation]: 'true' } : {}),
    ...(hasExternalCloud && givenAddresses.length > 0 ? { [addressAnnotation]: givenAddresses.join(',') } : {}),
  };
}

type Changes = Readonly<Record<string, string | null>>;

function changesOf(names: readonly string[], wanted: Readonly<Record<string, string>>, present: Readonly<Record<string, string>>): Changes {
  return Object.fromEntries(names.filter((name) => wanted[name] !== present[name]).map((name) => [name, wanted[name] ?? null]));
}

function patchOf(labels: Changes, annotations: Changes): object | undefined {
  const metadata = { ...(isEmpty(labels) ? {} : { labels }), ...(isEmpty(annotations) ? {} : { annotations }) };
  return isEmpty(metadata) ? undefined : { metadata };
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}
