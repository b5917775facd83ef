import type { NewObject } from '#api/object.ts';
import { notFound } from '#api/status.ts';
import type { ComponentStatus } from '#api/types/core-v1.ts';
import type { IndexedObject } from '../registry/indexed-object.ts';
import { passes } from '../registry/object-filter.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { negotiate } from '../request/negotiate.ts';
import { filterOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { answerEntry } from '../verbs/get.ts';
import { answerList } from '../verbs/list.ts';

export async function getComponentStatus(context: ServerContext, request: KindRequest): Promise<ApiResponse> {
  const format = negotiate(request.headers, request.query);
  const found = componentsOf(context, request).find(({ key }) => key === request.info.name);
  if (found === undefined) throw notFound(request.kind, request.info.name);
  return answerEntry(200, found, request, format, context);
}

export async function listComponentStatuses(context: ServerContext, request: KindRequest): Promise<ApiResponse> {
  const format = negotiate(request.headers, request.query);
  const filter = filterOf(request.kind, '', request.query);
  const shown = componentsOf(context, request).filter(({ key, facts }) => passes(filter, key, facts));
  return answerList(context, request, format, shown, { resourceVersion: '' });
}

/** The store, by the name that upstream gives its first one. Scheduler and controllers need not run here, and are not asked. */
function componentsOf({ registry }: ServerContext, { kind }: KindRequest): readonly IndexedObject[] {
  const isHealthy = registry.revision > 0;
  const message = isHealthy ? 'ok' : 'the store was not read yet';
  const component: NewObject<ComponentStatus> = {
    apiVersion: kind.version,
    kind: kind.kind,
    metadata: { name: 'etcd-0' },
    conditions: [{ type: 'Healthy', status: isHealthy ? 'True' : 'False', message }],
  };
  return [registry.unstored(kind, 'etcd-0', component as ComponentStatus, 0)]; // such an object has a name alone
}
