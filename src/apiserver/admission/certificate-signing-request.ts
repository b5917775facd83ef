import { readCertificateRequest } from '#api/certificates/certificate-request.ts';
import { certificateSigningRequest } from '#api/kinds/certificates/v1/certificate-signing-request.ts';
import { invalid } from '#api/status.ts';
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '#api/types/certificates-v1.ts';
import type { Clock } from '#base/clock.ts';
import type { User } from '../request/user.ts';
import { nowSeconds } from '../verbs/times.ts';
import type { AdmissionPlugin } from './admission.ts';

/** A request says who asks, whatever its body says, and its conditions since when they are. Upstream's storage of requests does the same. */
export function createCertificateSigningRequestFacts(clock: Clock): AdmissionPlugin {
  return {
    name: 'CertificateSigningRequestFacts',
    mutate: ({ kind, operation, subresource, object, previous, user }) => {
      if (kind !== certificateSigningRequest) return object;
      const request = object as CertificateSigningRequest; // the kind's schema has read it
      if (operation === 'CREATE' && subresource === '') return withRequester(request, user);
      if (operation !== 'UPDATE' || (subresource !== 'approval' && subresource !== 'status')) return object;
      return withTimes(request, previous as CertificateSigningRequest | undefined, nowSeconds(clock)); // likewise
    },
    validate: async ({ kind, operation, subresource, object }) => {
      if (kind !== certificateSigningRequest || operation !== 'CREATE' || subresource !== '') return;
      const { metadata, spec } = object as CertificateSigningRequest; // likewise
      if ((await readCertificateRequest(spec.request)) !== undefined) return;
      throw invalid(kind, metadata.name, [
        { type: 'Invalid', field: 'spec.request', badValue: spec.request, detail: 'malformed certificate request' },
      ]);
    },
  };
}

function withRequester(request: CertificateSigningRequest, { name, uid, groups, extra }: User): CertificateSigningRequest {
  const { username: _username, uid: _uid, groups: _groups, extra: _extra, ...spec } = request.spec ?? {};
  const requester = {
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
  return { ...request, spec: { ...spec, ...requester } };
}

function withTimes(request: CertificateSigningRequest, previous: CertificateSigningRequest | undefined, now: string): CertificateSigningRequest {
  const { conditions } = request.status ?? {};
  if (conditions === undefined) return request;
  const known = previous?.status?.conditions ?? [];
  const timed = conditions.map((condition): CertificateSigningRequestCondition => {
    const same = known.find(({ type, status }) => type === condition.type && status === condition.status);
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? now,
    };
  });
  return { ...request, status: { ...request.status, conditions: timed } };
}
