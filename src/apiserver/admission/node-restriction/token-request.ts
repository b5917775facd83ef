import type { Kind } from '#api/kind.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { quote } from '#api/quote.ts';
import { notFound } from '#api/status.ts';
import type { TokenRequest } from '#api/types/authentication-v1.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '#api/types/core-v1.ts';
import type { CSIDriver } from '#api/types/storage-v1.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ObjectReader } from '../../request/route.ts';
import type { AdmissionRequest } from '../admission.ts';
import { refuse } from './refuse.ts';

interface Dependencies {
  readonly objects: ObjectReader;
  readonly kinds: readonly Kind[];
  readonly authorizer: Authorizer;
}

/** A node asks for tokens of its own pods only, for whom the pods want them. */
export function checkTokenRequest(node: string, request: AdmissionRequest, dependencies: Dependencies): void {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return;
  const { spec } = request.body as TokenRequest; // its schema has read it
  const ref = spec?.boundObjectRef;
  if (ref?.apiVersion !== 'v1' || ref.kind !== 'Pod' || (ref.name ?? '') === '') refuse(request, 'node requested token not bound to a pod');
  if ((ref.uid ?? '') === '') refuse(request, 'node requested token with a pod binding without a uid');
  const pod = dependencies.objects.get(podKind, request.namespace, ref.name ?? '');
  if (pod === undefined) throw notFound(podKind, ref.name ?? '');
  if (ref.uid !== pod.metadata.uid) {
    const recreated = 'does not match the UID in record. The object might have been deleted and then recreated';
    refuse(request, `the UID in the bound object reference (${ref.uid}) ${recreated}`);
  }
  if (pod.spec?.nodeName !== node) refuse(request, 'node requested token bound to a pod scheduled on a different node');
  checkAudience(spec?.audiences ?? [], pod, request, dependencies);
}

function checkAudience(audiences: readonly string[], pod: Pod, request: AdmissionRequest, { authorizer, ...readers }: Dependencies): void {
  if (audiences.length > 1) refuse(request, 'node may only request 0 or 1 audiences');
  const audience = audiences[0] ?? '';
  if (wants(pod, audience, readers)) return;
  const verdict = authorizer.decide(request.user, {
    kind: 'resource',
    verb: 'request-serviceaccounts-token-audience',
    group: '',
    resource: audience,
    subresource: '',
    namespace: request.namespace,
    name: pod.spec?.serviceAccountName ?? '',
  }).verdict;
  if (verdict === 'allow') return;
  const problem = `${request.user.name} is not authorized to request tokens for this audience`;
  refuse(request, `audience ${quote(audience)} not found in pod spec volume, ${problem}`);
}

/** Whether a volume of the pod is to hold a token for the audience, or its driver is to get one. */
function wants(pod: Pod, audience: string, readers: Omit<Dependencies, 'authorizer'>): boolean {
  return (pod.spec?.volumes ?? []).some(({ projected, csi, persistentVolumeClaim, ephemeral, name }) => {
    const isProjected = (projected?.sources ?? []).some(
      ({ serviceAccountToken }) => serviceAccountToken !== undefined && (serviceAccountToken.audience ?? '') === audience,
    );
    if (isProjected) return true;
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? '' : `${pod.metadata.name}-${name}`);
    const driver = csi?.driver ?? (claim === '' ? '' : driverOfClaim(pod.metadata.namespace, claim, readers));
    return driver !== '' && audiencesOfDriver(driver, readers).includes(audience);
  });
}

/** The casts below are true because an index holds what the kind's schema has read. */
function driverOfClaim(namespace: string, name: string, readers: Omit<Dependencies, 'authorizer'>): string {
  const claim = find(readers, '', 'persistentvolumeclaims', namespace, name) as PersistentVolumeClaim | undefined;
  const volumeName = claim?.spec?.volumeName ?? '';
  const volume = volumeName === '' ? undefined : (find(readers, '', 'persistentvolumes', '', volumeName) as PersistentVolume | undefined);
  return volume?.spec?.csi?.driver ?? '';
}

function audiencesOfDriver(name: string, readers: Omit<Dependencies, 'authorizer'>): readonly string[] {
  const driver = find(readers, 'storage.k8s.io', 'csidrivers', '', name) as CSIDriver | undefined;
  return (driver?.spec?.tokenRequests ?? []).map(({ audience }) => audience ?? '');
}

function find(
  { objects, kinds }: Omit<Dependencies, 'authorizer'>,
  group: string,
  plural: string,
  namespace: string,
  name: string,
): object | undefined {
  const kind = kinds.find((one) => one.group === group && one.plural === plural);
  return kind === undefined ? undefined : objects.get(kind, namespace, name);
}
