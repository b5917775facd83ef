import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '#api/status.ts';
import { type Access, type Authorizer, allow, noOpinion } from '../authorization/authorizer.ts';
import type { ApiRequest } from '../request/route.ts';
import { authenticated, type User } from '../request/user.ts';
import { impersonated } from './impersonation.ts';

const user = authenticated({ name: 'boss' });
const access: Access = { kind: 'resource', verb: 'list', group: '', resource: 'pods', subresource: '', namespace: 'a', name: '' };

function textOf(one: Access): string {
  if (one.kind === 'path') return `${one.verb} ${one.path}`;
  return `${one.verb} ${one.group}/${one.resource}/${one.subresource} ${one.namespace} ${one.name}`;
}

/** @param allowed undefined: everything that the old verb asks for */
function as(headers: readonly (readonly [string, string])[], allowed?: readonly string[], actor: User = user) {
  const asked: string[] = [];
  const authorizer: Authorizer = {
    decide: (_user, one) => {
      asked.push(textOf(one));
      const isAllowed = allowed === undefined ? one.verb === 'impersonate' : allowed.includes(textOf(one));
      return isAllowed ? allow('') : noOpinion;
    },
    rulesOf: () => ({ rules: [], problems: [], isComplete: true }),
  };
  const request: ApiRequest = {
    ...{ method: 'GET', path: '/', query: new URLSearchParams(), remoteAddress: '', body: async () => new Uint8Array() },
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: headers.flat(),
  };
  const seen = impersonated(actor, request, access, authorizer);
  return { seen, asked: asked.filter((text) => text.startsWith('impersonate ')) };
}

const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return [error.status.code, error.status.message];
    throw error;
  }
  return 'nothing';
};

test('without headers a request is its own', () => {
  assert.equal(as([['X-Other', 'a']]).seen, user);
});

test('every part of the identity is asked for, under its own resource', () => {
  const { seen, asked } = as([
    ['Impersonate-User', 'jane'],
    ['Impersonate-Group', 'dev'],
    ['Impersonate-Group', 'ops'],
    ['Impersonate-Uid', 'u1'],
    ['Impersonate-Extra-Example.com%2fScopes', 'read'],
    ['Impersonate-Extra-Example.com%2fScopes', 'write'],
  ]);
  assert.deepEqual(seen, {
    name: 'jane',
    uid: 'u1',
    groups: ['dev', 'ops', 'system:authenticated'],
    extra: { 'example.com/scopes': ['read', 'write'] },
  });
  assert.deepEqual(asked, [
    'impersonate /users/  jane',
    'impersonate /groups/  dev',
    'impersonate /groups/  ops',
    'impersonate authentication.k8s.io/userextras/example.com/scopes  read',
    'impersonate authentication.k8s.io/userextras/example.com/scopes  write',
    'impersonate authentication.k8s.io/uids/  u1',
  ]);
});

test('a service account is asked for in its namespace and has its standard groups, unless others are named', () => {
  const name = ['Impersonate-User', 'system:serviceaccount:a:robot'] as const;
  const { seen, asked } = as([name]);
  assert.deepEqual(asked, ['impersonate /serviceaccounts/ a robot']);
  assert.deepEqual(seen.groups, ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated']);
  assert.deepEqual(as([name, ['Impersonate-Group', 'x']]).seen.groups, ['x', 'system:authenticated']);
});

test('nobody in particular is unauthenticated; who says so himself is left as he is', () => {
  assert.deepEqual(as([['Impersonate-User', 'system:anonymous']]).seen.groups, ['system:unauthenticated']);
  const named = (group: string) =>
    as([
      ['Impersonate-User', 'jane'],
      ['Impersonate-Group', group],
    ]).seen.groups;
  assert.deepEqual(named('system:unauthenticated'), ['system:unauthenticated']);
  assert.deepEqual(named('system:authenticated'), ['system:authenticated']);
});

test('what may not be impersonated is refused as any access is', () => {
  assert.deepEqual(
    refusal(() => as([['Impersonate-User', 'jane']], [])),
    [403, 'users "jane" is forbidden: User "boss" cannot impersonate resource "users" in API group "" at the cluster scope'],
  );
  const extra = [
    ['Impersonate-User', 'jane'],
    ['Impersonate-Extra-Scopes', 'read'],
  ] as const;
  assert.deepEqual(
    refusal(() => as(extra, ['impersonate /users/  jane'])),
    [
      403,
      'userextras.authentication.k8s.io "read" is forbidden: User "boss" cannot impersonate resource "userextras/scopes" in API group ' +
        '"authentication.k8s.io" at the cluster scope',
    ],
  );
});

test('keys of extra that every object of JavaScript has are keys like others', () => {
  const { seen } = as([
    ['Impersonate-User', 'jane'],
    ['Impersonate-Extra-constructor', 'a'],
    ['Impersonate-Extra-Constructor', 'b'],
    ['Impersonate-Extra-__proto__', 'c'],
  ]);
  assert.deepEqual(Object.entries(seen.extra), [
    ['constructor', ['a', 'b']],
    ['__proto__', ['c']],
  ]);
});

test('a group, a uid or an extra without a user is no request', () => {
  assert.deepEqual(
    refusal(() => as([['Impersonate-Group', 'dev']])),
    [400, 'requested [{Group  dev    }] without impersonating a user'],
  );
  assert.deepEqual(
    refusal(() => as([['Impersonate-Uid', 'u1']])),
    [400, 'requested [{UID  u1  authentication.k8s.io/v1  }] without impersonating a user'],
  );
});

test('a constrained right is for one action as a user, and names the user', () => {
  const rights = ['impersonate:user-info authentication.k8s.io/users/  jane', 'impersonate-on:user-info:list /pods/ a '];
  assert.equal(as([['Impersonate-User', 'jane']], rights).seen.name, 'jane');
  for (const right of rights)
    assert.notEqual(
      refusal(() => as([['Impersonate-User', 'jane']], [right])),
      'nothing',
    );
  const group = [
    ['Impersonate-User', 'jane'],
    ['Impersonate-Group', 'dev'],
  ] as const;
  assert.notEqual(
    refusal(() => as(group, rights)),
    'nothing',
  );
  assert.equal(as(group, [...rights, 'impersonate:user-info authentication.k8s.io/groups/  dev']).seen.name, 'jane');
});

test('a constrained right for nodes is for any, or for the one that the account runs on', () => {
  const node = [['Impersonate-User', 'system:node:n1']] as const;
  const any = ['impersonate:arbitrary-node authentication.k8s.io/nodes/  n1', 'impersonate-on:arbitrary-node:list /pods/ a '];
  assert.deepEqual(as(node, any).seen.groups, ['system:nodes', 'system:authenticated']);
  const own = ['impersonate:associated-node authentication.k8s.io/nodes/  *', 'impersonate-on:associated-node:list /pods/ a '];
  const on = (name: string) => authenticated({ name: 'system:serviceaccount:a:agent', extra: { 'authentication.kubernetes.io/node-name': [name] } });
  assert.equal(as(node, own, on('n1')).seen.name, 'system:node:n1');
  assert.notEqual(
    refusal(() => as(node, own, on('n2'))),
    'nothing',
  );
});

test('a constrained right for service accounts is in their namespace', () => {
  const account = [['Impersonate-User', 'system:serviceaccount:b:robot']] as const;
  const rights = ['impersonate:serviceaccount authentication.k8s.io/serviceaccounts/ b robot', 'impersonate-on:serviceaccount:list /pods/ a '];
  assert.deepEqual(as(account, rights).seen.groups, ['system:serviceaccounts', 'system:serviceaccounts:b', 'system:authenticated']);
});
