export interface HttpGetRequest {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/** One GET on a new connection; TLS is not verified, the status does not matter. For lifecycle hooks. */
export interface HttpGetPort {
  /** @returns the HTTP status. @throws {Unavailable} when there was no answer ({SpeaksPlainHttp} is one), {Cancelled} */
  get(request: HttpGetRequest, signal: AbortSignal): Promise<number>;
}
