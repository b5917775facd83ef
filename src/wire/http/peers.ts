import { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** What the client's certificate says; `rejected` is one that does not chain to an authority for clients. */
export type PeerIdentity = { readonly kind: 'none' } | { readonly kind: 'rejected'; readonly problem: string } | VerifiedPeer;

export interface VerifiedPeer {
  readonly kind: 'verified';
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Upstream's attribute for it; '' when the certificate has none. */
  readonly uid: string;
  readonly fingerprint256: string;
  /** A connection may outlive its certificate. */
  readonly validUntilMs: number;
  /** Which of the server's authorities it chains to. */
  readonly authorities: readonly PeerAuthority[];
}

export type PeerAuthority = 'client' | 'proxy';

/** The attribute of a subject that holds the user's uid. */
const uidAttribute = '1.3.6.1.4.1.57683.2';

/** Who is at the other end of a connection. */
export class Peers {
  readonly #known = new WeakMap<Socket, PeerIdentity>();
  /** Empty with a single authority: what the handshake accepted chains to it. */
  readonly #roots: readonly (readonly [PeerAuthority, readonly X509Certificate[]])[];

  constructor({ clientCa, proxyCa }: { readonly clientCa: string; readonly proxyCa?: string | undefined }) {
    this.#roots = proxyCa === undefined ? [] : [['client', certificatesOf(clientCa)] as const, ['proxy', certificatesOf(proxyCa)] as const];
  }

  /** Read once a connection: it costs more than a small request. */
  of(socket: Socket): PeerIdentity {
    const known = this.#known.get(socket);
    if (known !== undefined) return known;
    const peer = socket instanceof TLSSocket ? this.#read(socket) : ({ kind: 'none' } as const);
    this.#known.set(socket, peer);
    return peer;
  }

  #read(socket: TLSSocket): PeerIdentity {
    const certificate = socket.getPeerCertificate();
    if (certificate.subject === undefined) return { kind: 'none' };
    if (!socket.authorized) return { kind: 'rejected', problem: String(socket.authorizationError) };
    const subject: Readonly<Record<string, unknown>> = { ...certificate.subject }; // it has more attributes than Node's types name
    return {
      kind: 'verified',
      commonName: listed(subject['CN'])[0] ?? '',
      organizations: listed(subject['O']),
      uid: listed(subject[uidAttribute])[0] ?? '',
      fingerprint256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
      validUntilMs: Date.parse(certificate.valid_to),
      authorities: this.#authoritiesOf(socket),
    };
  }

  #authoritiesOf(socket: TLSSocket): readonly PeerAuthority[] {
    if (this.#roots.length === 0) return ['client'];
    const leaf = socket.getPeerX509Certificate();
    return this.#roots.flatMap(([authority, roots]) => (leaf !== undefined && chainsTo(leaf, roots) ? [authority] : []));
  }
}

/** A repeated attribute comes as an array. */
function listed(value: unknown): readonly string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

function certificatesOf(bundle: string): readonly X509Certificate[] {
  const pems = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return pems.map((pem) => new X509Certificate(pem));
}

const longestChain = 10;

/** By signatures: a client may send along certificates that only bear the right names. */
function chainsTo(leaf: X509Certificate, roots: readonly X509Certificate[]): boolean {
  let current: X509Certificate | undefined = leaf;
  for (let length = 0; current !== undefined && length < longestChain; length++) {
    const issued: X509Certificate = current;
    const isSignedBy = (issuer: X509Certificate) => issued.checkIssued(issuer) && issued.verify(issuer.publicKey);
    if (roots.some((root) => isSignedBy(root))) return true;
    const next: X509Certificate | undefined = issued.issuerCertificate;
    current = next !== undefined && isSignedBy(next) ? next : undefined;
  }
  return false;
}
