import type { Kind, KindRef } from '#api/kind.ts';
import { namespace } from '#api/kinds/core/v1/namespace.ts';
import { priorityClass } from '#api/kinds/scheduling/v1/priority-class.ts';
import { systemNamespaces } from '../admission/namespace-lifecycle.ts';
import type { ServerContext } from '../request/context.ts';
import { reconcileBootstrapRoles } from './bootstrap-roles.ts';
import { ensureExists, serverWriter } from './ensure-object.ts';

interface BootstrapObject {
  readonly kind: KindRef;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What every cluster has from its first moment. */
const bootstrapObjects: readonly BootstrapObject[] = [
  ...systemNamespaces.map((name) => ({ kind: namespace, name, fields: { spec: { finalizers: ['kubernetes'] } } })),
  systemPriority(
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ),
  systemPriority('system-node-critical', 2_000_001_000, 'Used for system critical pods that must not be moved from their current node.'),
];

function systemPriority(name: string, value: number, description: string): BootstrapObject {
  return { kind: priorityClass, name, fields: { value, preemptionPolicy: 'PreemptLowerPriority', description } };
}

/** Creates what is missing. */
export async function createBootstrapObjects(context: ServerContext, kinds: readonly Kind[], signal: AbortSignal): Promise<void> {
  const creations = bootstrapObjects.map(async ({ kind: ref, name, fields }) => {
    const kind = kinds.find((candidate) => candidate.kind === ref.kind && candidate.group === ref.group);
    if (kind !== undefined) await ensureExists(context, { kind, namespace: '', name, labels: {}, fields }, signal);
  });
  await Promise.all(creations); // the roles of a namespace need it
  await reconcileBootstrapRoles(context, serverWriter, signal);
}
