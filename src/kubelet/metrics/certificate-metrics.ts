import { X509Certificate } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { Clock } from '#base/clock.ts';
import { counter, histogram, number } from './families.ts';

/** Certificates in PEM, as they are now; '' and undefined: none. */
export interface CertificatesInUse {
  readonly server: { get(): { readonly cert: string } };
  readonly client: { get(): string | undefined };
}

export interface RenewalCounts {
  failed(): void;
  replaced(oldCertPem: string): void;
}

/** How long the kubelet's certificates are still good. */
export function registerCertificateTtl(registry: Registry, { server, client }: CertificatesInUse, clock: Clock): void {
  const left = (kind: string) => `Seconds until the kubelet’s ${kind} certificate ends; +Inf without one`;
  number(registry, 'kubelet_certificate_manager_server_ttl_seconds', left('server'), () => secondsLeft(server.get().cert, clock));
  number(registry, 'kubelet_certificate_manager_client_ttl_seconds', left('client'), () => secondsLeft(client.get() ?? '', clock));
}

/** Renewals of the two certificates that the kubelet may keep itself. */
export function createRenewalCounts(registry: Registry, clock: Clock): { readonly client: RenewalCounts; readonly server: RenewalCounts } {
  const clientErrors = counter(registry, 'kubelet_certificate_manager_client_expiration_renew_errors', 'Client certificates that were not issued');
  const serverErrors = counter(registry, 'kubelet_server_expiration_renew_errors', 'Server certificates that were not issued');
  const age = histogram(
    registry,
    'kubelet_certificate_manager_server_rotation_seconds',
    'How old server certificates were when they were replaced',
    [],
    [60, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000],
  );
  return {
    client: { failed: () => clientErrors.inc(), replaced: () => undefined },
    server: {
      failed: () => serverErrors.inc(),
      replaced: (pem) => age.observe((clock.now() - Date.parse(new X509Certificate(pem).validFrom)) / 1000),
    },
  };
}

function secondsLeft(pem: string, clock: Clock): number {
  return pem === '' ? Number.POSITIVE_INFINITY : (Date.parse(new X509Certificate(pem).validTo) - clock.now()) / 1000;
}
