/** Where manifests of static pods come from over the network. */
export interface ManifestsPort {
  /** One GET; certificates are checked. @throws {Unavailable} when there was no answer, {Cancelled} */
  get(url: string, headers: ReadonlyMap<string, readonly string[]>, signal: AbortSignal): Promise<{ readonly status: number; readonly body: string }>;
}
