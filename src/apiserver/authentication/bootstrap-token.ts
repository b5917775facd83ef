import { timingSafeEqual } from 'node:crypto';
import { secret as secretKind } from '#api/kinds/core/v1/secret.ts';
import type { Secret } from '#api/types/core-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { ObjectReader } from '../request/route.ts';
import type { User } from '../request/user.ts';
import { forApiServer, type TokenAuthenticator } from './token-authenticator.ts';

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const extraGroupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/** Tokens with which new nodes ask for their first certificate. A secret that is not right in every way makes no token. */
export function createBootstrapTokenAuthenticator(objects: ObjectReader, clock: Clock, apiAudiences: readonly string[]): TokenAuthenticator {
  return forApiServer(apiAudiences, async (token) => {
    const [, id = '', given = ''] = tokenForm.exec(token) ?? [];
    if (id === '') return undefined;
    const found = objects.get(secretKind, 'kube-system', `bootstrap-token-${id}`);
    return found === undefined ? undefined : userOf(found, id, given, clock);
  });
}

function userOf({ type, metadata, data = {} }: Secret, id: string, given: string, clock: Clock): User | undefined {
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString();
  if (metadata.deletionTimestamp !== undefined || type !== 'bootstrap.kubernetes.io/token') return undefined;
  if (!isSame(text('token-secret'), given) || text('token-id') !== id) return undefined;
  if (isExpired(text('expiration'), clock) || text('usage-bootstrap-authentication') !== 'true') return undefined;
  const groups = extraGroupsOf(text('auth-extra-groups'));
  return groups === undefined ? undefined : { name: `system:bootstrap:${id}`, uid: '', groups: ['system:bootstrappers', ...groups], extra: {} };
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** What is no time has passed. */
function isExpired(expiration: string, clock: Clock): boolean {
  if (expiration === '') return false;
  return !rfc3339.test(expiration) || !(Date.parse(expiration) > clock.now());
}

/** @returns undefined when one of them is no group for bootstrappers */
function extraGroupsOf(list: string): readonly string[] | undefined {
  if (list === '') return [];
  const groups = [...new Set(list.split(','))].sort();
  return groups.every((group) => extraGroupForm.test(group)) ? groups : undefined;
}
