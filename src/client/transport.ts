/** How a request reaches an API server: over HTTPS, or in process without a socket. */
export interface Transport {
  /** Resolves with any status. @throws {Unavailable} when the server cannot be reached, {Cancelled} */
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse>;
  /** Ends connections that are open. May be called twice. */
  close(): Promise<void>;
}

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export interface TransportResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Chunks as they arrive; leaving the loop early ends the exchange. */
  readonly body: AsyncIterable<Uint8Array>;
}
