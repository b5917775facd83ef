import { type FieldProblem, invalid as invalidValue, notSupported } from '#api/field-problem.ts';
import type { Kind } from '#api/kind.ts';
import { quote } from '#api/quote.ts';
import { schemaOf } from '#api/schema/message-schema.ts';
import { badRequest, invalid } from '#api/status.ts';
import type { DeleteOptions } from '#api/types/meta-v1.ts';
import { type BodyKind, decodeParsed, parseBody } from '../request/decode.ts';
import { booleanOf, dryRunProblems, integerOf } from '../request/query-options.ts';
import type { ApiRequest } from '../request/route.ts';
import type { Writer } from '../request/writer.ts';

export interface DeleteRequestOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: 'Orphan' | 'Background' | 'Foreground' | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** The old way to say `Orphan` or `Background`. */
  readonly orphanDependents: boolean | undefined;
  readonly isDryRun: boolean;
}

/** Any group's DeleteOptions are these. */
const bodyKind = (apiVersion: string): BodyKind => {
  const [first = '', second] = apiVersion.split('/');
  return { group: second === undefined ? '' : first, version: second ?? first, kind: 'DeleteOptions', schema: schemaOf('meta.v1.DeleteOptions') };
};

/** From the body, or from the query when there is none. @throws a `StatusError` */
export async function deleteOptionsOf(request: ApiRequest, signal: AbortSignal): Promise<DeleteRequestOptions> {
  const body = await request.body(signal);
  const options = body.byteLength === 0 ? fromQuery(request.query) : fromBody(body, request.headers['content-type'] ?? '');
  return checked(options);
}

/** Pure: what the options mean. @throws a 422 `StatusError` */
export function checked(options: DeleteOptions): DeleteRequestOptions {
  const { orphanDependents, propagationPolicy, gracePeriodSeconds, dryRun = [] } = options;
  const problems = [...policyProblems(orphanDependents, propagationPolicy), ...dryRunProblems(dryRun)];
  const isPolicy = propagationPolicy === 'Orphan' || propagationPolicy === 'Background' || propagationPolicy === 'Foreground';
  if (problems.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', problems);
  const oldPolicy = orphanDependents === true ? 'Orphan' : orphanDependents === false ? 'Background' : undefined;
  return {
    gracePeriodSeconds: gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds,
    propagationPolicy: isPolicy ? propagationPolicy : oldPolicy,
    uid: options.preconditions?.uid,
    resourceVersion: options.preconditions?.resourceVersion,
    orphanDependents,
    isDryRun: dryRun.length > 0,
  };
}

/** A kind may do what few expect of a delete that does not say what becomes of dependents. */
export function warnOfDefault(kind: Kind, { propagationPolicy }: DeleteRequestOptions, writer: Writer): void {
  if (propagationPolicy === undefined && kind.defaultPropagationWarning !== undefined) writer.warn(kind.defaultPropagationWarning);
}

function policyProblems(orphanDependents: boolean | undefined, policy: string | undefined): readonly FieldProblem[] {
  if (policy === undefined) return [];
  const field = 'propagationPolicy';
  const isKnown = ['Foreground', 'Background', 'Orphan'].includes(policy);
  return [
    ...(orphanDependents === undefined ? [] : [invalidValue(field, policy, 'orphanDependents and deletionPropagation cannot be both set')]),
    ...(isKnown ? [] : [notSupported(field, policy, ['Foreground', 'Background', 'Orphan', 'nil'])]),
  ];
}

function fromBody(body: Uint8Array, contentType: string): DeleteOptions {
  const parsed = parseBody(body, contentType, bodyKind('v1'));
  const { value } = parsed;
  if (typeof value !== 'object' || value === null) throw badRequest('the body is not an object of type DeleteOptions');
  const { apiVersion = 'v1', kind = 'DeleteOptions' } = value as { readonly apiVersion?: unknown; readonly kind?: unknown }; // any object has any property
  if (kind !== 'DeleteOptions' || typeof apiVersion !== 'string')
    throw badRequest(`decoded object cannot be converted to DeleteOptions: ${quote(String(kind))}`);
  const decoded: unknown = decodeParsed(parsed, bodyKind(apiVersion), { fieldValidation: 'Ignore' }, () => undefined);
  return decoded as DeleteOptions; // the schema has read it
}

function fromQuery(query: URLSearchParams): DeleteOptions {
  return {
    gracePeriodSeconds: integerOf(query, 'gracePeriodSeconds'),
    orphanDependents: booleanOf(query, 'orphanDependents'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    dryRun: query.getAll('dryRun'),
  };
}
