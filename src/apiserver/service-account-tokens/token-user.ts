import type { KindRef } from '#api/kind.ts';
import { node } from '#api/kinds/core/v1/node.ts';
import { pod } from '#api/kinds/core/v1/pod.ts';
import { secret } from '#api/kinds/core/v1/secret.ts';
import { serviceAccount } from '#api/kinds/core/v1/service-account.ts';
import type { KubeObject } from '#api/object.ts';
import type { Clock } from '#base/clock.ts';
import type { RejectedCredentials } from '../authentication/authenticator.ts';
import type { ObjectReader } from '../request/route.ts';
import type { User } from '../request/user.ts';
import { serviceAccountUser } from './service-account-user.ts';
import type { ClaimedObject, KubernetesClaims, TokenClaims } from './token-claims.ts';

/** The clocks of those who sign and those who check may be this far apart; what is being deleted may still use its token for as long. */
const leewaySeconds = 60;

/** What is wrong with the times of a token, undefined when nothing is. */
export function timeProblem({ expiresAt, notBefore, issuedAt }: TokenClaims, clock: Clock): string | undefined {
  const now = clock.now() / 1000;
  if (notBefore !== undefined && now + leewaySeconds < notBefore) return 'service account token is not valid yet';
  if (expiresAt !== undefined && now - leewaySeconds > expiresAt) return 'service account token has expired';
  if (issuedAt !== undefined && now + leewaySeconds < issuedAt) return 'service account token is issued in the future';
  return undefined;
}

/** The user of a token whose signature, audience and times are good: the account and the bound object must still be there. */
export function userOfToken(id: string, claims: KubernetesClaims, objects: ObjectReader, clock: Clock): User | RejectedCredentials {
  const { namespace, serviceaccount } = claims;
  const account = objects.get(serviceAccount, namespace, serviceaccount.name);
  if (account === undefined) return { rejected: `serviceaccounts "${serviceaccount.name}" not found` };
  if (isGone(account, clock)) return { rejected: `service account ${namespace}/${serviceaccount.name} has been deleted` };
  if (account.metadata.uid !== serviceaccount.uid) {
    return { rejected: `service account UID (${account.metadata.uid}) does not match claim (${serviceaccount.uid})` };
  }
  const problem =
    problemOf(secret, namespace, claims.secret, objects, clock) ??
    problemOf(pod, namespace, claims.pod, objects, clock) ??
    // The node of a pod's token is told, not checked: the pod is what counts.
    problemOf(node, '', claims.pod === undefined ? claims.node : undefined, objects, clock);
  if (problem !== undefined) return { rejected: problem };
  return serviceAccountUser(namespace, serviceaccount, {
    ...(id === '' ? {} : { 'authentication.kubernetes.io/credential-id': [`JTI=${id}`] }),
    ...extraOf('node', claims.node),
    ...extraOf('pod', claims.pod),
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
  return at !== undefined && Date.parse(at) < clock.now() - leewaySeconds * 1000;
}

function extraOf(what: 'pod' | 'node', claimed: ClaimedObject | undefined): Readonly<Record<string, readonly string[]>> {
  if (claimed === undefined) return {};
  const uid = claimed.uid === '' ? {} : { [`authentication.kubernetes.io/${what}-uid`]: [claimed.uid] };
  return { [`authentication.kubernetes.io/${what}-name`]: [claimed.name], ...uid };
}
