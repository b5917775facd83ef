import type { FieldProblem } from '#api/field-problem.ts';
import type { KindRef } from '#api/kind.ts';
import { node as nodeKind } from '#api/kinds/core/v1/node.ts';
import { pod as podKind } from '#api/kinds/core/v1/pod.ts';
import { secret as secretKind } from '#api/kinds/core/v1/secret.ts';
import { serviceAccount as serviceAccountKind } from '#api/kinds/core/v1/service-account.ts';
import type { KubeObject } from '#api/object.ts';
import { quote } from '#api/quote.ts';
import { schemaOf } from '#api/schema/message-schema.ts';
import { badRequest, failure, invalid, notFound } from '#api/status.ts';
import type { BoundObjectReference, TokenRequest } from '#api/types/authentication-v1.ts';
import type { ServiceAccount } from '#api/types/core-v1.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { type BodyKind, decodeBody } from '../request/decode.ts';
import { answerObject } from '../request/encode.ts';
import { negotiate } from '../request/negotiate.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { writerOf } from '../request/writer.ts';
import type { KubernetesClaims } from '../service-account-tokens/token-claims.ts';
import { nowSeconds, timeOf } from '../verbs/times.ts';

const bodyKind: BodyKind = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
  get schema() {
    return schemaOf('authentication.v1.TokenRequest');
  },
};
const defaultSeconds = 3_600;
const minSeconds = 600;
const maxSeconds = 2 ** 32;
/** Kubelets ask for this odd time; old clients do not read their token again, so it really lasts a year and warns after the odd time. */
const kubeletSeconds = 3_607;
const yearSeconds = 365 * 24 * 3_600;

/** POST `serviceaccounts/token`: signs a token. */
export async function requestToken(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { info, query } = request;
  const format = negotiate(request.headers, query);
  const options = writeOptionsOf(query, 'CreateOptions');
  const writer = writerOf(request, options);
  const decoded: unknown = decodeBody(await request.body(signal), request.headers['content-type'] ?? '', bodyKind, options, writer.warn);
  const wanted = decoded as TokenRequest; // the schema has read it
  await context.registry.upToDate(signal);
  const account = context.objects.get(serviceAccountKind, info.namespace, info.name);
  if (account === undefined) throw notFound(serviceAccountKind, info.name);
  check(wanted, account);
  const expirationSeconds = wanted.spec?.expirationSeconds ?? defaultSeconds;
  const audiences = wanted.spec?.audiences ?? [];
  const isForApi = audiences.length === 0 || audiences.every((audience) => context.tokens.audiences.includes(audience));
  const nowMs = context.clock.now();
  const kubernetes = claimsOf(context, account, wanted.spec?.boundObjectRef);
  const isLong = expirationSeconds === kubeletSeconds && kubernetes.pod !== undefined && isForApi;
  const nowSecond = Math.floor(nowMs / 1000);
  const token = await context.tokens.sign({
    audiences: audiences.length === 0 ? context.tokens.audiences : audiences,
    expiresAtSeconds: nowSecond + (isLong ? yearSeconds : expirationSeconds),
    kubernetes: isLong ? { ...kubernetes, warnafter: nowSecond + kubeletSeconds } : kubernetes,
  });
  const answer = {
    kind: bodyKind.kind,
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: info.name, namespace: info.namespace, creationTimestamp: nowSeconds(context.clock) },
    spec: { ...wanted.spec, audiences: audiences.length === 0 ? context.tokens.audiences : audiences, expirationSeconds },
    status: { token, expirationTimestamp: timeOf(nowMs + expirationSeconds * 1000) },
  };
  return answerObject(201, answer, format, writer.warnings);
}

function check({ metadata = {}, spec = {} }: TokenRequest, account: ServiceAccount): void {
  const { name, namespace, uid } = account.metadata;
  const seconds = spec.expirationSeconds ?? defaultSeconds;
  const problems: FieldProblem[] = [];
  const mismatch = (field: string, badValue: string, what: string) =>
    problems.push({ type: 'Invalid', field, badValue, detail: `must match the service account ${what}${what === 'name' ? ' if specified' : ''}` });
  if ((metadata.name ?? name) !== name) mismatch('metadata.name', metadata.name ?? '', 'name');
  if ((metadata.namespace ?? namespace) !== namespace) mismatch('metadata.namespace', metadata.namespace ?? '', 'namespace');
  const duration = (detail: string) => problems.push({ type: 'Invalid', field: 'spec.expirationSeconds', badValue: seconds, detail });
  if (seconds < minSeconds) duration('may not specify a duration less than 10 minutes');
  if (seconds > maxSeconds) duration('may not specify a duration larger than 2^32 seconds');
  if (problems.length > 0) throw invalid(bodyKind, '', problems);
  if ((metadata.uid ?? uid) !== uid) {
    const detail = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`;
    const message = `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io ${quote(name)}: ${detail}`;
    throw failure(409, 'Conflict', message, { name, group: 'authentication.k8s.io', kind: 'TokenRequest' });
  }
}

function claimsOf(context: ServerContext, account: ServiceAccount, ref: BoundObjectReference | undefined): KubernetesClaims {
  const { namespace } = account.metadata;
  const claims = { namespace, serviceaccount: named(account) };
  if (ref === undefined) return claims;
  switch (`${ref.apiVersion ?? ''}/${ref.kind ?? ''}`) {
    case 'v1/Pod': {
      const pod = boundObject(context, podKind, namespace, ref);
      if (pod.spec?.serviceAccountName !== account.metadata.name) {
        throw badRequest(`cannot bind token for serviceaccount ${quote(account.metadata.name)} to pod running with different serviceaccount name.`);
      }
      const node = context.objects.get(nodeKind, '', pod.spec.nodeName ?? '');
      return { ...claims, pod: named(pod), ...(node === undefined ? {} : { node: named(node) }) };
    }
    case 'v1/Secret':
      return { ...claims, secret: named(boundObject(context, secretKind, namespace, ref)) };
    case 'v1/Node':
      return { ...claims, node: named(boundObject(context, nodeKind, '', ref)) };
    default:
      throw badRequest(`cannot bind token to object of type ${ref.apiVersion ?? ''}, Kind=${ref.kind ?? ''}`);
  }
}

function boundObject<T extends KubeObject>(context: ServerContext, kind: KindRef<T>, namespace: string, ref: BoundObjectReference): T {
  const name = ref.name ?? '';
  const object = context.objects.get(kind, namespace, name);
  if (object === undefined) throw notFound(kind, name);
  if (ref.uid === undefined || ref.uid === '' || ref.uid === object.metadata.uid) return object;
  const detail = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw failure(409, 'Conflict', `Operation cannot be fulfilled on ${kind.kind} ${quote(name)}: ${detail}`, { name, kind: kind.kind });
}

function named({ metadata: { name, uid } }: KubeObject): { readonly name: string; readonly uid: string } {
  return { name, uid };
}
