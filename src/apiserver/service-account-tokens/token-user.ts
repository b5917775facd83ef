import type { KindRef } from '#api/kind.ts';
import { node } from '#api/kinds/core/v1/node.ts';
import { pod } from '#api/kinds/core/v1/pod.ts';
import { secret } from '#api/kinds/core/v1/secret.ts';
import { serviceAccount } from '#api/kinds/core/v1/service-account.ts';
import type { KubeObject } from '#api/object.ts';
import type { Clock } from '#base/clock.ts';
import type { RejectedCredentials } from '../authentication/authenticator.ts';
import type { ObjectReader } from '../request/route.ts';
import { authenticated, type User } from '../request/user.ts';
import type { ClaimedObject, TokenClaims } from './token-claims.ts';

/** What is being deleted may still use its token for this long. */
const deletionGraceMs = 60_000;

/** The user of a token whose signature is good: the account and the bound object must still be there. */
export function userOfToken({ id, kubernetes }: TokenClaims, objects: ObjectReader, clock: Clock): User | RejectedCredentials {
  const { namespace, serviceaccount } = kubernetes;
  const account = objects.get(serviceAccount, namespace, serviceaccount.name);
  if (account === undefined || isGone(account, clock)) return { rejected: `service account ${namespace}/${serviceaccount.name} has been deleted` };
  if (account.metadata.uid !== serviceaccount.uid) {
    return { rejected: `service account UID (${account.metadata.uid}) does not match claim (${serviceaccount.uid})` };
  }
  const problem =
    problemOf(pod, namespace, kubernetes.pod, objects, clock) ??
    problemOf(secret, namespace, kubernetes.secret, objects, clock) ??
    // The node of a pod's token is told, not checked: the pod is what counts.
    problemOf(node, '', kubernetes.pod === undefined ? kubernetes.node : undefined, objects, clock);
  if (problem !== undefined) return { rejected: problem };
  return authenticated({
    name: `system:serviceaccount:${namespace}:${serviceaccount.name}`,
    uid: serviceaccount.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra: {
      'authentication.kubernetes.io/credential-id': [`JTI=${id}`],
      ...extraOf('pod', kubernetes.pod),
      ...extraOf('node', kubernetes.node),
    },
  });
}

function problemOf(kind: KindRef, namespace: string, claimed: ClaimedObject | undefined, objects: ObjectReader, clock: Clock): string | undefined {
  if (claimed === undefined) return undefined;
  const object = objects.get(kind, namespace, claimed.name);
  if (object === undefined || isGone(object, clock)) return 'service account token has been invalidated';
  if (object.metadata.uid === claimed.uid) return undefined;
  const what = kind.kind.toLowerCase();
  return `${what} UID (${object.metadata.uid}) does not match service account ${what} ref claim (${claimed.uid})`;
}

function isGone(object: KubeObject, clock: Clock): boolean {
  const at = object.metadata.deletionTimestamp;
  return at !== undefined && Date.parse(at) < clock.now() - deletionGraceMs;
}

function extraOf(what: 'pod' | 'node', claimed: ClaimedObject | undefined): Readonly<Record<string, readonly string[]>> {
  if (claimed === undefined) return {};
  return { [`authentication.kubernetes.io/${what}-name`]: [claimed.name], [`authentication.kubernetes.io/${what}-uid`]: [claimed.uid] };
}
