import { badRequest } from '#api/status.ts';
import type { Access, Authorizer, ResourceAccess } from '../authorization/authorizer.ts';
import { requireAccess } from '../request/authorize.ts';
import type { ApiRequest } from '../request/route.ts';
import { anonymous, authenticatedGroup, serviceAccountGroups, type User, unauthenticatedGroup } from '../request/user.ts';
import { serviceAccountOf } from '../service-account-tokens/service-account-user.ts';
import { gathered, unescaped } from './request-header.ts';

/** Whom a request asks to be taken for. */
interface Wanted {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: readonly (readonly [key: string, value: string])[];
}

const group = 'authentication.k8s.io';
const extraPrefix = 'impersonate-extra-';
const nodePrefix = 'system:node:';
const nodeNameExtra = 'authentication.kubernetes.io/node-name';

/**
 * The user that a request is to be taken for: its own, or the one of its `Impersonate-*` headers.
 *
 * @throws a `StatusError`: 400 for what names no user, 403 when the user may not
 */
export function impersonated(user: User, request: ApiRequest, access: Access, authorizer: Authorizer): User {
  const wanted = wantedBy(request);
  if (wanted === undefined) return user;
  const constrained = constrainedUser(user, wanted, access, authorizer);
  if (constrained !== undefined) return constrained;
  for (const one of classicAccesses(wanted)) requireAccess(authorizer, user, one);
  const account = serviceAccountOf(wanted.name);
  return userOf(wanted, account === undefined || wanted.groups.length > 0 ? wanted.groups : serviceAccountGroups(account.namespace));
}

function wantedBy({ headers, rawHeaders }: ApiRequest): Wanted | undefined {
  if (!Object.keys(headers).some((name) => name.startsWith('impersonate-'))) return undefined;
  const given = rawHeaders.length === 0 ? Object.entries(headers) : pairs(rawHeaders);
  const meant = given.map(([name, value]) => [name.toLowerCase(), value] as const).filter(([name]) => name.startsWith('impersonate-'));
  const valuesOf = (name: string) => meant.filter(([header]) => header === name).map(([, value]) => value);
  const [name = ''] = valuesOf('impersonate-user');
  const [uid = ''] = valuesOf('impersonate-uid');
  const groups = valuesOf('impersonate-group');
  const extra = meant.flatMap(([header, value]) =>
    header.startsWith(extraPrefix) ? [[unescaped(header.slice(extraPrefix.length)), value] as const] : [],
  );
  const wanted = { name, uid, groups, extra };
  if (name !== '') return wanted;
  if (uid === '' && groups.length === 0 && extra.length === 0) return undefined;
  throw badRequest(`requested ${shown(wanted)} without impersonating a user`);
}

function pairs(rawHeaders: readonly string[]): readonly (readonly [string, string])[] {
  return rawHeaders.flatMap((name, position) => (position % 2 === 0 ? [[name, rawHeaders[position + 1] ?? ''] as const] : []));
}

/** As upstream prints its references: kind, namespace, name, uid, apiVersion, resourceVersion and fieldPath. */
function shown({ uid, groups, extra }: Wanted): string {
  const references = [
    ...groups.map((name) => `{Group  ${name}    }`),
    ...extra.map(([key, value]) => `{UserExtra  ${value}  ${group}/v1  ${key}}`),
    ...(uid === '' ? [] : [`{UID  ${uid}  ${group}/v1  }`]),
  ];
  return `[${references.join(' ')}]`;
}

/** The old way: with the right to be a user goes everything that the user may do. */
function classicAccesses({ name, uid, groups, extra }: Wanted): readonly ResourceAccess[] {
  const account = serviceAccountOf(name);
  const to = (resource: string, more: Partial<ResourceAccess>) => accessTo('impersonate', resource, more);
  return [
    account === undefined ? to('users', { name, group: '' }) : to('serviceaccounts', { ...account, group: '' }),
    ...groups.map((one) => to('groups', { name: one, group: '' })),
    ...extra.map(([subresource, value]) => to('userextras', { subresource, name: value })),
    ...(uid === '' ? [] : [to('uids', { name: uid })]),
  ];
}

function accessTo(verb: string, resource: string, more: Partial<ResourceAccess>): ResourceAccess {
  return { kind: 'resource', verb, group, resource, subresource: '', namespace: '', name: '', ...more };
}

interface Mode {
  readonly name: string;
  /** Beside `system:authenticated`. */
  readonly groups: readonly string[];
  readonly identity: readonly ResourceAccess[];
}

/** The narrow way: the right to be the user and, beside it, the right to do this one thing as such a user. */
function constrainedUser(user: User, wanted: Wanted, access: Access, authorizer: Authorizer): User | undefined {
  const may = (one: Access) => authorizer.decide(user, one).verdict === 'allow';
  const mode = modesFor(user, wanted).find(
    ({ name, identity }) => may({ ...access, verb: `impersonate-on:${name}:${access.verb}` }) && identity.every(may),
  );
  return mode === undefined ? undefined : userOf(wanted, mode.groups);
}

function modesFor(user: User, wanted: Wanted): readonly Mode[] {
  const { name, uid, groups, extra } = wanted;
  const to = (mode: string, resource: string, more: Partial<ResourceAccess>) => accessTo(`impersonate:${mode}`, resource, more);
  const isBare = uid === '' && groups.length === 0 && extra.length === 0;
  if (name.startsWith(nodePrefix)) {
    const node = name.slice(nodePrefix.length);
    if (!isBare || node === '') return [];
    const mode = (of: string, named: string): Mode => ({ name: of, groups: ['system:nodes'], identity: [to(of, 'nodes', { name: named })] });
    const isOwn = serviceAccountOf(user.name) !== undefined && user.extra[nodeNameExtra]?.length === 1 && user.extra[nodeNameExtra][0] === node;
    return [...(isOwn ? [mode('associated-node', '*')] : []), mode('arbitrary-node', node)];
  }
  const account = serviceAccountOf(name);
  if (account !== undefined) {
    const identity = [to('serviceaccount', 'serviceaccounts', account)];
    return isBare ? [{ name: 'serviceaccount', groups: serviceAccountGroups(account.namespace), identity }] : [];
  }
  const identity = [
    to('user-info', 'users', { name }),
    ...groups.map((one) => to('user-info', 'groups', { name: one })),
    ...extra.map(([subresource, value]) => to('user-info', 'userextras', { subresource, name: value })),
    ...(uid === '' ? [] : [to('user-info', 'uids', { name: uid })]),
  ];
  return [{ name: 'user-info', groups, identity }];
}

function userOf({ name, uid, extra }: Wanted, groups: readonly string[]): User {
  const isAnonymous = name === anonymous.name;
  const added = isAnonymous ? unauthenticatedGroup : authenticatedGroup;
  const isSaid = groups.includes(unauthenticatedGroup) || (!isAnonymous && groups.includes(authenticatedGroup));
  return { name, uid, groups: isSaid ? groups : [...groups, added], extra: gathered(extra) };
}
