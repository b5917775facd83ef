import type { Kind, KindRef } from '#api/kind.ts';
import { namespace } from '#api/kinds/core/v1/namespace.ts';
import { priorityClass } from '#api/kinds/scheduling/v1/priority-class.ts';
import type { KubeObject } from '#api/object.ts';
import { StatusError } from '#api/status.ts';
import { systemNamespaces } from '../admission/namespace-lifecycle.ts';
import type { ServerContext } from '../request/context.ts';
import { authenticated, mastersGroup } from '../request/user.ts';
import { internalWriter } from '../request/writer.ts';
import { createObject } from '../verbs/create-object.ts';
import { reconcileBootstrapRoles } from './bootstrap-roles.ts';

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
  const writer = internalWriter(authenticated({ name: 'system:apiserver', groups: [mastersGroup] }));
  const creations = bootstrapObjects.map(async ({ kind: ref, name, fields }) => {
    const kind = kinds.find((candidate) => candidate.kind === ref.kind && candidate.group === ref.group);
    if (kind === undefined || context.objects.get(ref, '', name) !== undefined) return;
    const apiVersion = ref.group === '' ? ref.version : `${ref.group}/${ref.version}`;
    const object = { apiVersion, kind: ref.kind, metadata: { name }, ...fields } as unknown as KubeObject; // the rest of its metadata is filled in
    try {
      await createObject(context, { kind, namespace: '', object, writer }, signal);
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.code !== 409) throw error; // another server was faster
    }
  });
  await Promise.all(creations); // the roles of a namespace need it
  await reconcileBootstrapRoles(context, writer, signal);
}
