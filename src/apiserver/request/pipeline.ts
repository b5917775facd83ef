import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { badRequest, internalError, StatusError, serviceUnavailable, timeout } from '#api/status.ts';
import { withDeadline } from '#base/abort.ts';
import { AppError, Cancelled, DeadlineExceeded, messageOf } from '#base/errors.ts';
import type { Authenticator, Credentials } from '../authentication/authenticator.ts';
import { authenticate } from './authenticate.ts';
import { requireAccess } from './authorize.ts';
import type { ServerContext } from './context.ts';
import { answerFailure, answerText, compressed } from './encode.ts';
import type { KindRoutes } from './kind-routes.ts';
import { type PathEndpoint, withoutTrailingSlash } from './path-routes.ts';
import { type RequestInfo, requestInfoOf } from './request-info.ts';
import type { ApiRequest, ApiResponse, Route, RoutedRequest } from './route.ts';
import type { User } from './user.ts';

export interface PipelineOptions {
  readonly context: ServerContext;
  readonly ways: readonly Authenticator[];
  readonly kinds: KindRoutes;
  readonly routes: readonly Route[];
  readonly paths: readonly PathEndpoint[];
}

/** What does not stream has an end. */
const requestTimeoutMs = 60_000;

/** The way of every request: authenticate → authorize → route. What is thrown on it becomes a `Status`. */
export class Pipeline {
  readonly #options: PipelineOptions;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  async serve(request: ApiRequest, credentials: Credentials, signal: AbortSignal): Promise<ApiResponse> {
    return this.#answered(request, async () => this.#serveAs(await authenticate(this.#options.ways, credentials), request, signal));
  }

  /** Enters after authentication: for callers in this process. */
  async serveAs(user: User, request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    return this.#answered(request, () => this.#serveAs(user, request, signal));
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
    const response = await this.#answered(request, async () => {
      const routed = this.#authorized(await authenticate(this.#options.ways, credentials), request);
      const route = this.#routeOf(routed.info);
      if (route?.upgrade === undefined) return this.#routed(routed, signal);
      await route.upgrade(routed, socket, head, signal);
      isTaken = true;
      return answerText(200, '');
    });
    return isTaken ? undefined : response;
  }

  async #serveAs(user: User, request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    return this.#routed(this.#authorized(user, request), signal);
  }

  #authorized(user: User, request: ApiRequest): RoutedRequest {
    const info = requestInfoOf(request.method, request.path, request.query);
    requireAccess(this.#options.context.authorizer, user, info);
    return { ...request, info, user };
  }

  #routeOf(info: RequestInfo): Route | undefined {
    return this.#options.routes.find((route) => route.matches(info));
  }

  async #routed(request: RoutedRequest, signal: AbortSignal): Promise<ApiResponse> {
    const { info } = request;
    const { context, kinds, paths } = this.#options;
    const route = this.#routeOf(info);
    if (route !== undefined) {
      if (route.handle === undefined) throw badRequest('Upgrade request required');
      return route.handle(request, signal);
    }
    if (info.kind === 'path') {
      const endpoint = paths.find(({ matches }) => matches(withoutTrailingSlash(info.path)));
      if (endpoint === undefined) return answerText(404, '404 page not found\n');
      if (info.verb !== 'get' && info.verb !== 'head') return answerText(405, '405 method not allowed\n');
      return endpoint.answer({ ...request, info: { ...info, path: withoutTrailingSlash(info.path) } }, signal);
    }
    const serve = (inner: AbortSignal) => kinds.serve(context, { ...request, info }, inner);
    if (info.verb === 'watch') return serve(signal);
    return withDeadline(`${request.method} ${request.path}`, requestTimeoutMs, context.clock, signal, serve);
  }

  async #answered(request: ApiRequest, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
    const response = await this.#caught(request, work);
    const headers = {
      'audit-id': request.headers['audit-id'] ?? randomUUID(),
      ...(response.headers['cache-control'] === undefined ? { 'cache-control': 'no-cache, private' } : {}),
      ...response.headers,
    };
    return compressed({ ...response, headers }, request.headers['accept-encoding'] ?? '');
  }

  async #caught(request: ApiRequest, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StatusError) return answerFailure(error);
      if (error instanceof DeadlineExceeded) return answerFailure(timeout('request did not complete within the allotted timeout'));
      if (error instanceof Cancelled) return answerFailure(serviceUnavailable(error.message)); // the client is gone, or the server is going
      const { logger } = this.#options.context;
      logger.error('a request failed', { method: request.method, path: request.path, error });
      const failed = internalError(messageOf(error), error);
      return answerFailure(error instanceof AppError && error.retry !== 'never' ? serviceUnavailable(error.message) : failed);
    }
  }
}
