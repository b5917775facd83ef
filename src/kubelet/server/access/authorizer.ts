import type { KindRef } from '#api/kind.ts';
import type { SubjectAccessReview } from '#api/types/authorization-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { Client } from '#client/client.ts';
import { AnswersCache } from './answers-cache.ts';
import type { User } from './user.ts';

export interface AuthorizationSettings {
  readonly nodeName: string;
  readonly authorizedMs: number;
  readonly unauthorizedMs: number;
}

/** Whether the user may do that with a subresource of the kubelet's Node. @throws when the API server does not tell */
export type Authorize = (user: User, verb: string, subresource: string) => Promise<boolean>;

export const allowAlways: Authorize = async () => true;

/** Asks the API server. */
export function createAuthorizer(client: Pick<Client, 'create'>, settings: AuthorizationSettings, clock: Clock): Authorize {
  const reviews = new AnswersCache<boolean>(clock, (allowed) => (allowed ? settings.authorizedMs : settings.unauthorizedMs));
  return (user, verb, subresource) => {
    const resourceAttributes = { verb, version: 'v1', resource: 'nodes', subresource, name: settings.nodeName };
    const { name, uid, groups, extra } = user;
    const spec = { user: name, groups, resourceAttributes, ...(uid === '' ? {} : { uid }), ...(Object.keys(extra).length === 0 ? {} : { extra }) };
    return reviews.get(JSON.stringify(spec), async (signal) => {
      const { status } = await client.create(subjectAccessReview, { metadata: {}, spec }, signal);
      return status?.allowed === true;
    });
  };
}

const subjectAccessReview: KindRef<SubjectAccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  scope: 'Cluster',
};
