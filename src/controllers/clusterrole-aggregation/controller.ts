import { clusterRole as clusterRoleKind } from '#api/kinds/rbac/v1/cluster-role.ts';
import { isNotFound } from '#client/api-error.ts';
import { WorkQueue } from '#client/work-queue.ts';
import { type ControllerContext, syncedInformer } from '../context.ts';
import { planAggregation } from './plan.ts';

/** Keeps the rules of aggregated cluster roles the union of those of their parts. */
export async function runClusterRoleAggregationController(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const roles = await syncedInformer(context, clusterRoleKind, signal);
  const queue = new WorkQueue({ ...context, workers: 2 });
  // Any role may be, or have been, a part of any aggregated one, and those are few.
  roles.subscribe(() => {
    for (const role of roles.list()) if (role.aggregationRule !== undefined) queue.add(role.metadata.name);
  });
  await queue.run(async (name, inner) => {
    const role = roles.get(name);
    const rules = role === undefined ? undefined : planAggregation(role, roles.list());
    if (rules === undefined) return;
    try {
      await context.client.patch(clusterRoleKind, { name }, 'merge', { rules }, '', inner);
    } catch (error) {
      if (!isNotFound(error)) throw error; // deleted meanwhile
    }
  }, signal);
}
