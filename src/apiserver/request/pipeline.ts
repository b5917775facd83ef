import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { badRequest, internalError, StatusError, serviceUnavailable, timeout } from '#api/status.ts';
import { withDeadline } from '#base/abort.ts';
import { AppError, Cancelled, DeadlineExceeded, messageOf } from '#base/errors.ts';
import type { Authenticator, Credentials } from '../authentication/authenticator.ts';
import { impersonated } from '../authentication/impersonation.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';
import { authenticate } from './authenticate.ts';
import { requireAccess } from './authorize.ts';
import type { ServerContext } from './context.ts';
import { answerFailure, answerText, compressed } from './encode.ts';
import type { KindRoutes } from './kind-routes.ts';
import { negotiateFailure } from './negotiate.ts';
import { type PathEndpoint, withoutTrailingSlash } from './path-routes.ts';
import { type RequestInfo, requestInfoOf } from './request-info.ts';
import type { ApiRequest, ApiResponse, Route, RoutedRequest } from './route.ts';
import { isLongRunning, timeLimitOf } from './time-limit.ts';
import type { User } from './user.ts';
import { sendAsMessages, webSocketForm } from './web-socket-answer.ts';

export interface PipelineOptions {
  readonly context: ServerContext;
  readonly ways: readonly Authenticator[];
  readonly kinds: KindRoutes;
  readonly routes: readonly Route[];
  readonly paths: readonly PathEndpoint[];
  readonly metrics: RequestMetrics;
}

/** Of whom a request is, once that is needed. */
type FindUser = () => Promise<User>;

/** The way of every request: authenticate → authorize → route. What is thrown on it becomes a `Status`. */
export class Pipeline {
  readonly #options: PipelineOptions;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  async serve(request: ApiRequest, credentials: Credentials, signal: AbortSignal): Promise<ApiResponse> {
    return this.#serveAs(() => this.#authenticated(credentials, signal), request, signal);
  }

  /** Enters after authentication: for callers in this process. */
  async serveAs(user: User, request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    return this.#serveAs(async () => user, request, signal);
  }

  /** @returns an answer to write when the connection is not taken over */
  async upgrade(
    request: ApiRequest,
    credentials: Credentials,
    socket: Duplex,
    head: Uint8Array,
    signal: AbortSignal,
  ): Promise<ApiResponse | undefined> {
    let isTaken = false;
    const response = await this.#answered(request, async (info) => {
      const routed = this.#authorized(await this.#authenticated(credentials, signal), request, info);
      const route = this.#routeOf(info);
      if (route?.upgrade !== undefined) {
        await route.upgrade(routed, socket, head, signal);
        isTaken = true;
        return answerText(101, '');
      }
      const answer = await this.#limited(routed, signal);
      const form = webSocketForm(routed, answer);
      if (form === undefined) return answer;
      isTaken = true;
      await sendAsMessages(routed, answer, form, { socket, head }, signal);
      return answerText(101, '');
    });
    return isTaken ? undefined : response;
  }

  #serveAs(findUser: FindUser, request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    return this.#answered(request, async (info) => this.#limited(this.#authorized(await findUser(), request, info), signal));
  }

  async #authenticated(credentials: Credentials, signal: AbortSignal): Promise<User> {
    const { ways, metrics } = this.#options;
    try {
      const user = await authenticate(ways, credentials, signal);
      metrics.authenticated(true);
      return user;
    } catch (error) {
      metrics.authenticated(false);
      throw error;
    }
  }

  #authorized(user: User, request: ApiRequest, info: RequestInfo): RoutedRequest {
    const { context, metrics } = this.#options;
    let isAllowed = false;
    try {
      const actor = impersonated(user, request, info, context.authorizer);
      requireAccess(context.authorizer, actor, info);
      isAllowed = true;
      return { ...request, info, user: actor };
    } finally {
      metrics.authorized(isAllowed);
    }
  }

  #routeOf(info: RequestInfo): Route | undefined {
    return this.#options.routes.find((route) => route.matches(info));
  }

  async #limited(request: RoutedRequest, signal: AbortSignal): Promise<ApiResponse> {
    const limit = timeLimitOf(request.info, request.query);
    if (limit === undefined) return this.#routed(request, signal);
    try {
      const { clock } = this.#options.context;
      return await withDeadline(`${request.method} ${request.path}`, limit.ms, clock, signal, (inner) => this.#routed(request, inner));
    } catch (error) {
      throw error instanceof DeadlineExceeded ? timeout(limit.problem) : error;
    }
  }

  async #routed(request: RoutedRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { info } = request;
    const { context, kinds, paths } = this.#options;
    const route = this.#routeOf(info);
    if (route !== undefined) {
      if (route.handle === undefined) throw badRequest('Upgrade request required');
      return route.handle(request, signal);
    }
    if (info.kind === 'resource') return kinds.serve(context, { ...request, info }, signal);
    const path = withoutTrailingSlash(info.path);
    const endpoint = paths.find(({ matches }) => matches(path));
    if (endpoint === undefined) return answerText(404, '404 page not found\n');
    if (info.verb !== 'get' && info.verb !== 'head') return answerText(405, '405 method not allowed\n');
    return endpoint.answer({ ...request, info: { ...info, path } }, signal);
  }

  async #answered(request: ApiRequest, work: (info: RequestInfo) => Promise<ApiResponse>): Promise<ApiResponse> {
    const { metrics, context } = this.#options;
    const startedAtMs = context.clock.monotonic();
    let observe: ReturnType<RequestMetrics['begin']> | undefined;
    const response = await this.#caught(request, async () => {
      const info = requestInfoOf(request.method, request.path, request.query);
      observe = metrics.begin(request, info, isLongRunning(info));
      timeLimitOf(info, request.query); // one that cannot be read is told before anything else
      return work(info);
    });
    const ended = () => observe?.(response, (context.clock.monotonic() - startedAtMs) / 1000);
    const headers = {
      'audit-id': request.headers['audit-id'] || randomUUID(),
      ...(response.headers['cache-control'] === undefined ? { 'cache-control': 'no-cache, private' } : {}),
      ...response.headers,
    };
    if (!(response.body instanceof Uint8Array)) return { ...response, headers, body: followed(response.body, ended) };
    ended();
    return compressed({ ...response, headers }, request.headers['accept-encoding'] ?? '');
  }

  async #caught(request: ApiRequest, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
    try {
      return await work();
    } catch (error) {
      return answerFailure(this.#statusOf(request, error), negotiateFailure(request.headers, request.query));
    }
  }

  #statusOf(request: ApiRequest, error: unknown): StatusError {
    if (error instanceof StatusError) return error;
    if (error instanceof DeadlineExceeded) return timeout('request did not complete within the allotted timeout');
    if (error instanceof Cancelled) return serviceUnavailable(error.message); // the client is gone, or the server is going
    this.#options.context.logger.error('a request failed', { method: request.method, path: request.path, error });
    if (error instanceof AppError && error.retry !== 'never') return serviceUnavailable(error.message);
    return internalError(messageOf(error), error);
  }
}

/** A stream that tells its end, whoever ends it. */
async function* followed(body: AsyncIterable<Uint8Array>, ended: () => void): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* body;
  } finally {
    ended();
  }
}
