import { setMaxListeners } from 'node:events';
import type { Kind } from '#api/kind.ts';
import { clusterRole } from '#api/kinds/rbac/v1/cluster-role.ts';
import { clusterRoleBinding } from '#api/kinds/rbac/v1/cluster-role-binding.ts';
import { role } from '#api/kinds/rbac/v1/role.ts';
import { roleBinding } from '#api/kinds/rbac/v1/role-binding.ts';
import type { KubeObject, NewObject } from '#api/object.ts';
import { StatusError } from '#api/status.ts';
import type { ServerContext } from '../request/context.ts';
import type { Writer } from '../request/writer.ts';
import { createObject } from '../verbs/create-object.ts';
import { deleteObject } from '../verbs/delete-object.ts';
import { checked } from '../verbs/delete-options.ts';
import { updateObject } from '../verbs/update-object.ts';
import { bootstrapPolicy } from './rbac/policy.ts';
import { reconciledBinding, reconciledRole } from './rbac/reconcile.ts';

/** What is to become of an object that is there already. */
type Reconcile<T extends KubeObject> = (existing: T, expected: NewObject<T>) => T | 'recreate' | undefined;

/**
 * Creates the roles and bindings that are missing, and gives those that are there what they lack. All at once: the store puts what comes
 * together into few commits. When nothing is to do, nothing is written.
 */
export async function reconcileBootstrapRoles(context: ServerContext, writer: Writer, signal: AbortSignal): Promise<void> {
  const ensureAll = <T extends KubeObject>(kind: Kind<T>, objects: readonly NewObject<T>[], reconcile: Reconcile<T>) =>
    objects.map((expected) => ensure(context, writer, kind, expected, reconcile, signal));
  const policy = bootstrapPolicy();
  setMaxListeners(0, signal); // all wait at the same time
  await Promise.all([
    ...ensureAll(clusterRole, policy.clusterRoles, reconciledRole),
    ...ensureAll(role, policy.roles, reconciledRole),
    ...ensureAll(clusterRoleBinding, policy.clusterRoleBindings, reconciledBinding),
    ...ensureAll(roleBinding, policy.roleBindings, reconciledBinding),
  ]);
}

async function ensure<T extends KubeObject>(
  context: ServerContext,
  writer: Writer,
  ref: Kind<T>,
  expected: NewObject<T>,
  reconcile: Reconcile<T>,
  signal: AbortSignal,
): Promise<void> {
  const kind = ref as unknown as Kind; // its functions get its own objects only
  const { name = '', namespace = '' } = expected.metadata;
  const existing = context.objects.get<T>(ref, namespace, name);
  const wanted = existing === undefined ? 'create' : reconcile(existing, expected);
  if (wanted === undefined) return;
  try {
    if (wanted === 'recreate') await deleteObject(context, { kind, namespace, name, writer, options: checked({}) }, signal);
    if (wanted === 'create' || wanted === 'recreate') {
      await createObject(context, { kind, namespace, object: expected as unknown as KubeObject, writer }, signal); // the rest is filled in
      return;
    }
    const change = (current: KubeObject) => {
      const next = reconcile(current as T, expected); // the kind's index holds such objects
      return next === undefined || next === 'recreate' ? current : next;
    };
    await updateObject(context, { kind, namespace, name, subresource: '', writer, change }, signal);
  } catch (error) {
    const isTaken = error instanceof StatusError && (error.status.code === 409 || error.status.code === 404);
    if (!isTaken) throw error; // another server was faster, or somebody deletes it just now
  }
}
