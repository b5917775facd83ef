import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiVersionOf, type Kind } from '#api/kind.ts';
import { kinds } from '#api/kinds/index.ts';
import { resourceOfKind } from '#apiserver/discovery/api-resource.ts';
import { factsOf } from './facts/facts.ts';

/** Aggregation of other API servers is not built. */
const notBuilt = new Set(['apis/apiregistration.k8s.io/v1']);
/** Served by routes of their own: nothing of them is stored. */
const reviews = new Set(['apis/authentication.k8s.io/v1', 'apis/authorization.k8s.io/v1']);

const verbOf: Readonly<Record<string, string>> = { post: 'create', put: 'update' };
const kindOf = (groupVersion: string, plural: string): Kind | undefined =>
  kinds.find((kind) => kind.plural === plural && groupVersion === `${kind.group === '' ? 'api' : 'apis'}/${apiVersionOf(kind)}`);

test('every stable resource is served, in its scope, with its verbs and subresources', () => {
  const wrong: string[] = [];
  for (const [groupVersion = '', path = '', scope = '', kindName = '', actionText = ''] of factsOf('resources')) {
    if (notBuilt.has(groupVersion) || reviews.has(groupVersion) || path.endsWith('/{path}')) continue;
    const [plural = '', subresource] = path.split('/');
    const kind = kindOf(groupVersion, plural);
    if (kind === undefined) {
      wrong.push(`${groupVersion} ${path}: missing`);
      continue;
    }
    const actions = actionText.split(',').map((action) => verbOf[action] ?? action);
    const resource = resourceOfKind(kind);
    const offered = subresource === undefined ? resource : resource.subresources.find(({ name }) => name === subresource);
    const isConnect = actionText === 'connect';
    if (offered === undefined) wrong.push(`${groupVersion} ${path}: missing`);
    else if (offered.kind !== kindName) wrong.push(`${groupVersion} ${path}: is a ${offered.kind} instead of a ${kindName}`);
    else if (!isConnect) {
      const missing = actions.filter((verb) => !offered.verbs.includes(verb));
      if (missing.length > 0) wrong.push(`${groupVersion} ${path}: lacks ${missing.join(', ')}`);
    }
    if (scope === 'namespaced' && kind.scope !== 'Namespaced') wrong.push(`${groupVersion} ${path}: is not namespaced`);
  }
  assert.deepEqual(wrong, []);
});
