import type { PathRequestInfo } from './request-info.ts';
import type { ApiRequest, ApiResponse } from './route.ts';
import type { User } from './user.ts';

/** An endpoint that is no resource: discovery, health, documents. Reached after authorization. */
export interface PathEndpoint {
  /** @param path without a trailing slash */
  matches(path: string): boolean;
  answer(request: PathRequest, signal: AbortSignal): Promise<ApiResponse>;
}

export interface PathRequest extends ApiRequest {
  readonly info: PathRequestInfo;
  readonly user: User;
}

export function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
