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
import type { BoundObjectReference, TokenRequest, TokenRequestSpec } from '#api/types/authentication-v1.ts';
import type { ServiceAccount } from '#api/types/core-v1.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { type BodyKind, decodeBody } from '../request/decode.ts';
import { answerObject } from '../request/encode.ts';
import { negotiate } from '../request/negotiate.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { writerOf } from '../request/writer.ts';
import type { KubernetesClaims } from '../service-account-tokens/token-claims.ts';
import type { TokenRequest as SigningRequest } from '../service-account-tokens/token-signer.ts';
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
  const { info, query, kind, user } = request;
  const format = negotiate(request.headers, query);
  const options = writeOptionsOf(query, 'CreateOptions');
  const writer = writerOf(request, options);
  const decoded: unknown = decodeBody(await request.body(signal), request.headers['content-type'] ?? '', bodyKind, options, writer.warn);
  const body = decoded as TokenRequest; // the schema has read it
  await context.registry.upToDate(signal);
  const account = context.objects.get(serviceAccountKind, info.namespace, info.name);
  checkPlace(body, info);
  if (account === undefined) throw notFound(serviceAccountKind, info.name);
  checkUid(body, account);
  const { namespace, name, subresource } = info;
  const { isDryRun, warn } = writer;
  const admission = { operation: 'CREATE', kind, subresource, namespace, name, object: account, previous: undefined, user, isDryRun, warn } as const;
  await context.admission.mutate({ ...admission, body }, signal);
  const wanted = completed(body, context);
  checkDuration(wanted.expirationSeconds);
  await context.admission.validate({ ...admission, body: wanted }, signal);
  const nowMs = context.clock.now();
  const kubernetes = claimsOf(context, account, wanted.boundObjectRef);
  const expirationSeconds = shortened(wanted.expirationSeconds, context.tokens.maxSeconds, warn);
  const token = await context.tokens.sign(tokenOf({ ...wanted, expirationSeconds }, kubernetes, nowMs, context.tokens.audiences));
  const answer = {
    kind: bodyKind.kind,
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, creationTimestamp: nowSeconds(context.clock) },
    spec: { ...wanted, expirationSeconds },
    status: { token, expirationTimestamp: timeOf(nowMs + expirationSeconds * 1000) },
  };
  return answerObject(201, answer, format, writer.warnings);
}

/** A request with what it leaves to the server. */
type Wish = TokenRequestSpec & { readonly audiences: readonly string[]; readonly expirationSeconds: number };

function completed({ spec }: TokenRequest, context: ServerContext): Wish {
  const audiences = spec?.audiences ?? [];
  return {
    ...spec,
    audiences: audiences.length === 0 ? context.tokens.audiences : audiences,
    expirationSeconds: spec?.expirationSeconds ?? defaultSeconds,
  };
}

function tokenOf(wish: Wish, kubernetes: KubernetesClaims, nowMs: number, apiAudiences: readonly string[]): SigningRequest {
  const { audiences, expirationSeconds } = wish;
  const now = Math.floor(nowMs / 1000);
  const isForApi = audiences.every((audience) => apiAudiences.includes(audience));
  const isLong = expirationSeconds === kubeletSeconds && kubernetes.pod !== undefined && isForApi;
  return {
    audiences,
    expiresAtSeconds: now + (isLong ? yearSeconds : expirationSeconds),
    kubernetes: isLong ? { ...kubernetes, warnafter: now + kubeletSeconds } : kubernetes,
  };
}

function shortened(seconds: number, mostSeconds: number | undefined, warn: (text: string) => void): number {
  if (mostSeconds === undefined || seconds <= mostSeconds) return seconds;
  warn(`requested expiration of ${seconds} seconds shortened to ${mostSeconds} seconds`);
  return mostSeconds;
}

function checkPlace({ metadata }: TokenRequest, { name, namespace }: { readonly name: string; readonly namespace: string }): void {
  const mismatch = (field: string, badValue: string, right: string): readonly FieldProblem[] =>
    badValue === '' || badValue === right
      ? []
      : [{ type: 'Invalid', field: `metadata.${field}`, badValue, detail: `must match the service account ${field} if specified` }];
  const problems = [...mismatch('name', metadata?.name ?? '', name), ...mismatch('namespace', metadata?.namespace ?? '', namespace)];
  if (problems.length > 0) throw invalid(bodyKind, name, problems);
}

function checkUid({ metadata }: TokenRequest, account: ServiceAccount): void {
  const { name, uid } = account.metadata;
  const given = metadata?.uid ?? '';
  if (given === '' || given === uid) return;
  const detail = `the UID in the token request (${given}) does not match the UID of the service account (${uid})`;
  const message = `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io ${quote(name)}: ${detail}`;
  throw failure(409, 'Conflict', message, { name, group: 'authentication.k8s.io', kind: 'TokenRequest' });
}

function checkDuration(seconds: number): void {
  const problem = (detail: string) =>
    invalid(bodyKind, '', [{ type: 'Invalid', field: 'spec.expirationSeconds', badValue: seconds, detail: `may not specify a duration ${detail}` }]);
  if (seconds < minSeconds) throw problem('less than 10 minutes');
  if (seconds > maxSeconds) throw problem('larger than 2^32 seconds');
}

function claimsOf(context: ServerContext, account: ServiceAccount, ref: BoundObjectReference | undefined): KubernetesClaims {
  const { namespace = '' } = account.metadata;
  const claims = { namespace, serviceaccount: named(account) };
  if (ref === undefined) return claims;
  const apiVersion = ref.apiVersion ?? '';
  const kind = apiVersion.includes('/') ? '' : (ref.kind ?? ''); // of the core group
  switch (kind) {
    case 'Pod': {
      const pod = boundObject(context, podKind, namespace, ref);
      if (pod.spec?.serviceAccountName !== account.metadata.name) {
        throw badRequest(`cannot bind token for serviceaccount ${quote(account.metadata.name)} to pod running with different serviceaccount name.`);
      }
      checkBoundUid(podKind, pod, ref);
      return { ...claims, pod: named(pod), ...nodeClaim(context, pod.spec.nodeName ?? '') };
    }
    case 'Secret':
      return { ...claims, secret: named(checkBoundUid(secretKind, boundObject(context, secretKind, namespace, ref), ref)) };
    case 'Node':
      return { ...claims, node: named(checkBoundUid(nodeKind, boundObject(context, nodeKind, '', ref), ref)) };
    default:
      throw badRequest(`cannot bind token to object of type ${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${ref.kind ?? ''}`);
  }
}

/** A node that is not registered is named all the same: whoever reads the token learns where its pod is. */
function nodeClaim({ objects }: ServerContext, name: string): Pick<KubernetesClaims, 'node'> {
  if (name === '') return {};
  return { node: { name, uid: objects.get(nodeKind, '', name)?.metadata.uid ?? '' } };
}

function boundObject<T extends KubeObject>(context: ServerContext, kind: KindRef<T>, namespace: string, ref: BoundObjectReference): T {
  const name = ref.name ?? '';
  const object = context.objects.get(kind, namespace, name);
  if (object === undefined) throw notFound(kind, name);
  return object;
}

function checkBoundUid(kind: KindRef, object: KubeObject, ref: BoundObjectReference): KubeObject {
  if (ref.uid === undefined || ref.uid === '' || ref.uid === object.metadata.uid) return object;
  const { name } = object.metadata;
  const detail = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw failure(409, 'Conflict', `Operation cannot be fulfilled on ${kind.kind} ${quote(name)}: ${detail}`, { name, kind: kind.kind });
}

function named({ metadata: { name, uid } }: KubeObject): { readonly name: string; readonly uid: string } {
  return { name, uid };
}
