import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Binding } from '#api/rules/rbac-bindings.ts';
import type { Subject } from '#api/types/rbac-v1.ts';
import { authenticated, type User } from '../../request/user.ts';
import { GrantIndex } from './grant-index.ts';

const name = fc.constantFrom('a', 'b', 'c');
const namespace = fc.constantFrom('', 'n', 'm');
const subject: fc.Arbitrary<Subject> = fc.oneof(
  fc.record({ kind: fc.constantFrom('User', 'Group'), name }),
  fc.record({ kind: fc.constant('ServiceAccount'), name, namespace }),
);
const binding = fc.record({ name, namespace, subjects: fc.array(subject, { maxLength: 3 }) }).map(
  (some): Binding => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: some.namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name: some.name, namespace: some.namespace, uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    roleRef: { kind: 'ClusterRole', name: 'r' },
    subjects: some.subjects,
  }),
);
const user: fc.Arbitrary<User> = fc.oneof(
  fc.record({ name, groups: fc.uniqueArray(name) }).map((some) => authenticated(some)),
  fc.record({ name, home: fc.constantFrom('n', 'm') }).map((some) => authenticated({ name: `system:serviceaccount:${some.home}:${some.name}` })),
);
const keyOf = ({ metadata }: Binding) => `${metadata.namespace}/${metadata.name}`;

/** What the index must find, by looking at everything. */
function reaches({ metadata, subjects = [] }: Binding, who: User): boolean {
  return subjects.some((one) => {
    if (one.kind === 'Group') return who.groups.includes(one.name);
    return who.name === (one.kind === 'User' ? one.name : `system:serviceaccount:${one.namespace || metadata.namespace}:${one.name}`);
  });
}

test('whatever was bound and taken back, a user has what the bindings that there are give', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), binding), { maxLength: 20 }), user, namespace, (changes, who, where) => {
      const index = new GrantIndex();
      const present = new Map<string, Binding>();
      for (const [isThere, one] of changes) {
        const before = present.get(keyOf(one));
        if (before !== undefined) index.remove(before);
        present.delete(keyOf(one));
        if (!isThere) continue;
        index.add(one);
        present.set(keyOf(one), one);
      }
      const found = new Set([...index.grantsOf(who, where)].map((grant) => `${grant.namespace}/${grant.binding}`));
      const inScope = [...present.values()].filter(({ metadata }) => metadata.namespace === '' || metadata.namespace === where);
      assert.deepEqual(
        [...found].sort(),
        inScope
          .filter((one) => reaches(one, who))
          .map(keyOf)
          .sort(),
      );
    }),
  );
});
