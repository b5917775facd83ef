import type { Kind } from '#api/kind.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/log.ts';
import type { Admission } from '../admission/admission.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { ExpiringLeases } from '../registry/expiring-leases.ts';
import type { Registry } from '../registry/registry.ts';
import type { TokenSigner } from '../service-account-tokens/token-signer.ts';
import type { Reservations } from '../verbs/reservations.ts';
import type { ResourceRequestInfo } from './request-info.ts';
import type { ApiResponse, ObjectReader, RoutedRequest } from './route.ts';

/** What the handlers of requests work with. */
export interface ServerContext {
  readonly registry: Registry;
  readonly leases: ExpiringLeases;
  readonly objects: ObjectReader;
  readonly admission: Admission;
  readonly authorizer: Authorizer;
  readonly reservations: readonly Reservations[];
  readonly tokens: TokenSigner;
  readonly clock: Clock;
  readonly logger: Logger;
  newUid(): string;
  /** Five characters that make a name unique. */
  newSuffix(): string;
}

/** A request for a kind's objects. */
export interface KindRequest extends RoutedRequest {
  readonly info: ResourceRequestInfo;
  readonly kind: Kind;
}

export type KindHandler = (context: ServerContext, request: KindRequest, signal: AbortSignal) => Promise<ApiResponse>;
