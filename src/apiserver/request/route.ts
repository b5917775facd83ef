import type { Duplex } from 'node:stream';
import type { KindRef } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { RequestInfo, Verb } from './request-info.ts';
import type { User } from './user.ts';

export const maxBodyBytes = 3 * 1024 * 1024;

/** A request as every handler gets it, whether it came over TLS or in process. */
export interface ApiRequest {
  /** Upper case. */
  readonly method: string;
  /** Absolute, as sent, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names; repeated headers are joined with ', '. */
  readonly headers: Readonly<Record<string, string>>;
  /** Name, value, name, value... in the order and spelling of the client; empty in process. */
  readonly rawHeaders: readonly string[];
  /** '' in process. */
  readonly remoteAddress: string;
  /** Reads the body once. @throws a 413 `StatusError` beyond 3 MiB */
  body(signal: AbortSignal): Promise<Uint8Array>;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** A stream's chunks are flushed one by one; leaving its loop ends it. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** A request that has passed authentication and authorization. */
export interface RoutedRequest extends ApiRequest {
  readonly info: RequestInfo;
  readonly user: User;
}

/**
 * An endpoint that is not a kind's own verbs: a streaming subresource, the start-up record. It is reached only after authentication and
 * authorization of `info` (verb, group, resource, subresource, name), and takes precedence over the kinds.
 */
export interface Route {
  /** For logs and metrics: `pods/log`. */
  readonly name: string;
  matches(info: RequestInfo): boolean;
  /**
   * The signal is aborted when the client goes away or the server closes. Anything thrown becomes a `Status` answer: a `StatusError` as it
   * is, others as 500. Absent: upgrades only, everything else is answered with 400 "Upgrade request required".
   */
  handle?(request: RoutedRequest, signal: AbortSignal): Promise<ApiResponse>;
  /**
   * Takes over the connection of a request with an `Upgrade` header; owns the socket from then on. What is thrown (or rejected) must come
   * before anything was written: it is answered as a `Status` and the socket is ended. Absent: the request goes to `handle`.
   */
  upgrade?(request: RoutedRequest, socket: Duplex, head: Uint8Array, signal: AbortSignal): void | Promise<void>;
  /** What discovery says about it, when no kind declares it. */
  readonly discovery?: RouteResource | undefined;
}

/** A resource that discovery lists although no kind of the registry stands behind it. */
export interface RouteResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  readonly verbs: readonly Verb[];
}

/** Reads the newest objects that this server knows; all readers get the same frozen objects. */
export interface ObjectReader {
  get<T extends KubeObject>(kind: KindRef<T>, namespace: string, name: string): T | undefined;
  list<T extends KubeObject>(kind: KindRef<T>): readonly T[];
}

export interface RouteContext {
  readonly objects: ObjectReader;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How other parts mount their endpoints: called once, when the server has read the store. */
export type RouteFactory = (context: RouteContext) => readonly Route[];
