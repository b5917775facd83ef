import { AppError, type RetryClass } from '#base/errors.ts';
import { type FieldProblem, problemBody, problemReason, problemsText } from './field-problem.ts';
import { groupKindOf, groupResourceOf, type KindRef } from './kind.ts';
import { quote } from './quote.ts';
import type { Status, StatusDetails } from './types/meta-v1.ts';

/** A `Status` as it is sent. */
export interface StatusObject extends Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly status: 'Success' | 'Failure';
}

/** A failure that the API server answers with this `Status`, under the HTTP status `status.code`. */
export class StatusError extends AppError {
  readonly code = 'API_STATUS';
  readonly retry: RetryClass;
  readonly status: StatusObject & { readonly code: number };

  constructor(status: StatusObject & { readonly code: number }, cause?: unknown) {
    super({ message: status.message ?? '', cause });
    this.status = status;
    this.retry = status.code === 429 || status.code >= 500 ? 'backoff' : 'never';
  }
}

/** Which resource an error is about: a kind, or what is known of one. */
export type ResourceRef = Pick<KindRef, 'group' | 'plural'>;

export function notFound(resource: ResourceRef, name: string): StatusError {
  return about(404, 'NotFound', resource, name, `${groupResourceOf(resource)} ${quote(name)} not found`);
}

export function alreadyExists(resource: ResourceRef, name: string): StatusError {
  return about(409, 'AlreadyExists', resource, name, `${groupResourceOf(resource)} ${quote(name)} already exists`);
}

/** The object that stands in the way is itself going away. */
export function alreadyExistsButDeleting(resource: ResourceRef, name: string): StatusError {
  return about(409, 'AlreadyExists', resource, name, `object is being deleted: ${groupResourceOf(resource)} ${quote(name)} already exists`);
}

/** Eight generated names in a row were taken. */
export function generatedNameExists(resource: ResourceRef, name: string): StatusError {
  const message = `${groupResourceOf(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`;
  return failure(409, 'AlreadyExists', message, { ...detailsOf(resource, name), retryAfterSeconds: 1 });
}

export const objectWasModified = 'the object has been modified; please apply your changes to the latest version and try again';

/** @param detail why, such as `objectWasModified` */
export function conflict(resource: ResourceRef, name: string, detail: string): StatusError {
  return about(409, 'Conflict', resource, name, `Operation cannot be fulfilled on ${groupResourceOf(resource)} ${quote(name)}: ${detail}`);
}

/** @param problems at least one */
export function invalid(kind: Pick<KindRef, 'group' | 'kind'>, name: string, problems: readonly FieldProblem[]): StatusError {
  const causes = problems.map((problem) => ({ reason: problemReason(problem), message: problemBody(problem), field: problem.field }));
  const details = { name, ...groupPart(kind.group), kind: kind.kind, causes };
  return failure(422, 'Invalid', `${groupKindOf(kind)} ${quote(name)} is invalid: ${problemsText(problems)}`, details);
}

export function badRequest(message: string): StatusError {
  return failure(400, 'BadRequest', message);
}

/** @param resource absent for a path that is no resource */
export function forbidden(resource: ResourceRef | undefined, name: string, detail: string): StatusError {
  if (resource === undefined) return failure(403, 'Forbidden', `forbidden: ${detail}`, {});
  const named = name === '' ? '' : ` ${quote(name)}`;
  return about(403, 'Forbidden', resource, name, `${groupResourceOf(resource)}${named} is forbidden: ${detail}`);
}

export interface DeniedRequest {
  readonly user: string;
  readonly verb: string;
  /** Absent for a path that is no resource. */
  readonly resource?: (ResourceRef & { readonly subresource: string; readonly namespace: string | undefined; readonly name: string }) | undefined;
  readonly path: string;
  /** What the authorizer says about it; may be empty. */
  readonly reason: string;
}

/** The answer to a request that authorization refused. */
export function accessDenied(request: DeniedRequest): StatusError {
  const { resource, reason } = request;
  const because = reason === '' ? '' : `: ${reason}`;
  const user = `User ${quote(request.user)} cannot ${request.verb}`;
  if (resource === undefined) return forbidden(undefined, '', escapeHtml(`${user} path ${quote(request.path)}${because}`));
  const full = resource.subresource === '' ? resource.plural : `${resource.plural}/${resource.subresource}`;
  const where = resource.namespace === undefined ? 'at the cluster scope' : `in the namespace ${quote(resource.namespace)}`;
  return forbidden(resource, resource.name, escapeHtml(`${user} resource ${quote(full)} in API group ${quote(resource.group)} ${where}${because}`));
}

export function unauthorized(): StatusError {
  return failure(401, 'Unauthorized', 'Unauthorized');
}

export function methodNotAllowed(resource: ResourceRef, verb: string): StatusError {
  const message = `${verb} is not supported on resources of kind ${quote(groupResourceOf(resource))}`;
  return failure(405, 'MethodNotAllowed', message, { ...groupPart(resource.group), kind: resource.plural });
}

export function notAcceptable(mediaTypes: readonly string[]): StatusError {
  return failure(406, 'NotAcceptable', `only the following media types are accepted: ${mediaTypes.join(', ')}`);
}

export function unsupportedMediaType(mediaTypes: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(', ')}`;
  return failure(415, 'UnsupportedMediaType', message);
}

export function requestTooLarge(message: string): StatusError {
  return failure(413, 'RequestEntityTooLarge', message);
}

export function bodyTooLarge(limitBytes: number): StatusError {
  return requestTooLarge(`Request entity too large: limit is ${limitBytes}`);
}

/** @param continueToken for a list that may go on inconsistently; `''` for none */
export function expired(message: string, continueToken = ''): StatusError {
  const error = failure(410, 'Expired', message);
  return continueToken === '' ? error : new StatusError({ ...error.status, metadata: { continue: continueToken } });
}

/** The event that ends a watch which asks for events that are gone. */
export function watchExpired(requested: bigint | number | string, oldest: bigint | number | string): StatusError {
  return expired(`too old resource version: ${requested} (${oldest})`);
}

export function gone(message: string): StatusError {
  return failure(410, 'Gone', message);
}

export function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return failure(429, 'TooManyRequests', message, retryAfterSeconds > 0 ? { retryAfterSeconds } : {});
}

/** An eviction that a disruption budget does not allow at the moment. */
export function disruptionBudgetExceeded(causeMessage: string, retryAfterSeconds: number): StatusError {
  const causes = [{ reason: 'DisruptionBudget', message: causeMessage }];
  const details = retryAfterSeconds > 0 ? { causes, retryAfterSeconds } : { causes };
  return failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", details);
}

export function serverTimeout(resource: ResourceRef, operation: string, retryAfterSeconds: number): StatusError {
  const message = `The ${operation} operation against ${groupResourceOf(resource)} could not be completed at this time, please try again.`;
  return failure(500, 'ServerTimeout', message, { name: operation, ...groupPart(resource.group), kind: resource.plural, retryAfterSeconds });
}

export function timeout(detail: string, retryAfterSeconds = 0): StatusError {
  return failure(504, 'Timeout', `Timeout: ${detail}`, retryAfterSeconds > 0 ? { retryAfterSeconds } : undefined);
}

/** A read asks for a state that this server has not reached. */
export function resourceVersionTooLarge(requested: bigint | number | string, current: bigint | number | string): StatusError {
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return failure(504, 'Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, { causes, retryAfterSeconds: 1 });
}

export function internalError(message: string, cause?: unknown): StatusError {
  const error = failure(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
  return new StatusError(error.status, cause);
}

/** A failure that upstream answers with code 500 and no reason. */
export function unnamedError(message: string): StatusError {
  return new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 });
}

export function serviceUnavailable(message: string): StatusError {
  return failure(503, 'ServiceUnavailable', message);
}

/** What a delete answers for the kinds that do not answer with the object. */
export function deleted(resource: ResourceRef, name: string, uid: string): StatusObject {
  const details = { ...detailsOf(resource, name), uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

/** What `pods/binding` and `pods/eviction` answer. */
export function created(): StatusObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

/** @param reason one of upstream's `StatusReason` */
export function failure(code: number, reason: string, message: string, details?: StatusDetails): StatusError {
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason } as const;
  return new StatusError(details === undefined ? { ...head, code } : { ...head, details, code });
}

function about(code: number, reason: string, resource: ResourceRef, name: string, message: string): StatusError {
  return failure(code, reason, message, detailsOf(resource, name));
}

function detailsOf(resource: ResourceRef, name: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...groupPart(resource.group), kind: resource.plural };
}

/** Empty groups are left out, as everywhere in `Status`. */
function groupPart(group: string): { readonly group?: string } {
  return group === '' ? {} : { group };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
