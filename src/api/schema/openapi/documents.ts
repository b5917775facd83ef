import { type Dialect, definitionName, definitionsOf, type GroupVersionKind, type Json, refTo } from './definitions.ts';
import type { Descriptions } from './descriptions.ts';
import { type DescribedKind, type Operation, type PathItem, patchMessage, pathsOf } from './operations.ts';

/** `/openapi/v2`: what kubectl below 1.27 validates, explains and patches with. @param version of the server, such as `v1.36.0` */
export function openApiV2(kinds: readonly DescribedKind[], version: string, descriptions: Descriptions): Json {
  const items = kinds.flatMap(pathsOf);
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version },
    paths: Object.fromEntries(items.map((item) => [item.path, pathItemV2(item)])),
    definitions: { ...definitionsOf(rootsOf(kinds, items), 'v2', descriptions), [definitionName(patchMessage)]: { type: 'object' } },
  };
}

/** `/openapi/v3/<group version>`: only the kinds of one group version, with everything they are made of. */
export function openApiV3(kinds: readonly DescribedKind[], group: string, version: string, serverVersion: string, descriptions: Descriptions): Json {
  const own = kinds.filter((kind) => kind.group === group && kind.version === version);
  const items = own.flatMap(pathsOf);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: serverVersion },
    paths: Object.fromEntries(items.map((item) => [item.path, pathItemV3(item)])),
    components: { schemas: { ...definitionsOf(rootsOf(own, items), 'v3', descriptions), [definitionName(patchMessage)]: { type: 'object' } } },
  };
}

const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const patchTypes = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

function rootsOf(kinds: readonly DescribedKind[], items: readonly PathItem[]): ReadonlyMap<string, readonly GroupVersionKind[]> {
  const groupVersions = [...new Set(['/v1', ...kinds.map(({ group, version }) => `${group}/${version}`)])].map((text) => text.split('/'));
  const anyGroup = (kind: string) => groupVersions.map(([group = '', version = '']) => ({ group, version, kind }));
  const roots = new Map<string, readonly GroupVersionKind[]>([
    ['meta.v1.DeleteOptions', anyGroup('DeleteOptions')],
    ['meta.v1.WatchEvent', anyGroup('WatchEvent')],
    ['meta.v1.Status', [{ group: '', version: 'v1', kind: 'Status' }]],
  ]);
  for (const { operations } of items) {
    for (const { action, kind, body, answer } of operations) {
      const own = { group: kind.group, version: kind.version, kind: kind.kind };
      if ((action === 'post' || action === 'put') && body !== undefined) roots.set(body, [own]);
      if (action === 'list' && answer !== undefined) roots.set(answer, [{ ...own, kind: `${own.kind}List` }]);
    }
  }
  return roots;
}

function pathItemV2({ pathParameters, operations }: PathItem): Json {
  const parameters = pathParameters.map((name) => ({ name, in: 'path', type: 'string', required: true }));
  const methods = Object.fromEntries(operations.map((operation) => [operation.method, operationV2(operation)]));
  return parameters.length > 0 ? { ...methods, parameters } : methods;
}

function operationV2(operation: Operation): Json {
  const { body, query, action } = operation;
  const bodies = body === undefined ? [] : [{ name: 'body', in: 'body', required: isBodyRequired(operation), schema: refTo(body, 'v2') }];
  return {
    operationId: operation.operationId,
    consumes: action === 'patch' ? patchTypes : ['*/*'],
    produces: mediaTypes,
    parameters: [...bodies, ...query.map(({ name, type }) => ({ name, in: 'query', type, uniqueItems: true }))],
    responses: {
      200: { description: 'OK', schema: operation.answer === undefined ? { type: 'string' } : refTo(operation.answer, 'v2') },
      401: { description: 'Unauthorized' },
    },
    ...extensions(operation),
  };
}

function pathItemV3({ pathParameters, operations }: PathItem): Json {
  const parameters = pathParameters.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const methods = Object.fromEntries(operations.map((operation) => [operation.method, operationV3(operation)]));
  return parameters.length > 0 ? { ...methods, parameters } : methods;
}

function operationV3(operation: Operation): Json {
  const { body, query, action } = operation;
  const types = action === 'patch' ? patchTypes : ['*/*'];
  const requestBody = body === undefined ? {} : { requestBody: { required: isBodyRequired(operation), content: contentOf(types, body, 'v3') } };
  return {
    operationId: operation.operationId,
    parameters: query.map(({ name, type }) => ({ name, in: 'query', schema: { type, uniqueItems: true } })),
    ...requestBody,
    responses: {
      200: {
        description: 'OK',
        content: operation.answer === undefined ? { '*/*': { schema: { type: 'string' } } } : contentOf(mediaTypes, operation.answer, 'v3'),
      },
      401: { description: 'Unauthorized' },
    },
    ...extensions(operation),
  };
}

function contentOf(types: readonly string[], message: string, dialect: Dialect): Json {
  return Object.fromEntries(types.map((type) => [type, { schema: refTo(message, dialect) }]));
}

function isBodyRequired({ action }: Operation): boolean {
  return action === 'post' || action === 'put' || action === 'patch';
}

function extensions({ action, kind }: Operation): Json {
  return { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': kind };
}
