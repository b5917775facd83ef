import 'reflect-metadata'; // before the library, which refuses to load without
import { createPrivateKey, createPublicKey, KeyObject, randomBytes, webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  Pkcs10CertificateRequest,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { InvalidInput, messageOf } from '#base/errors.ts';
import type { RequestedNames } from './certificate-request.ts';
import type { RequestedUsage, RequestSigning } from './sign-request.ts';

/** Whom a certificate stands for and when. */
export interface CertificateContent {
  readonly subject: { readonly commonName: string; readonly organizations: readonly string[] };
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface LeafContent extends CertificateContent {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly usages: readonly ('client' | 'server')[];
}

export interface KeyAndCertificate {
  readonly certPem: string;
  /** PKCS#8. */
  readonly keyPem: string;
}

const newKeys = { name: 'ECDSA', namedCurve: 'P-256' } as const;

/** Node's names of the curves that WebCrypto knows. */
const curves: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

const purposes = { client: ExtendedKeyUsage.clientAuth, server: ExtendedKeyUsage.serverAuth } as const;

const keyUsages: Readonly<Partial<Record<RequestedUsage, number>>> = {
  'digital signature': KeyUsageFlags.digitalSignature,
  'key encipherment': KeyUsageFlags.keyEncipherment,
};
const extendedUsages: Readonly<Partial<Record<RequestedUsage, string>>> = {
  'client auth': ExtendedKeyUsage.clientAuth,
  'server auth': ExtendedKeyUsage.serverAuth,
};

/** A certificate that is signed by its own new key and may sign others. */
export async function signAuthority(content: CertificateContent): Promise<KeyAndCertificate> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: nameOf(content.subject),
    ...validity(content),
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      // What upstream's authorities have.
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment | KeyUsageFlags.keyCertSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pemOf(certificate, keys.privateKey);
}

/**
 * A certificate for a new key that may not sign others. Texts that are no IP addresses may come out as some.
 *
 * @param authority its key is RSA, or EC on a curve of NIST's
 */
export async function signCertificate(content: LeafContent, authority: KeyAndCertificate): Promise<KeyAndCertificate> {
  const issuer = new X509Certificate(authority.certPem);
  const [keys, signingKey] = await Promise.all([generateKeys(), importKey(authority.keyPem)]);
  const certificate = await X509CertificateGenerator.create({
    issuer: issuer.subjectName,
    subject: nameOf(content.subject),
    ...validity(content),
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension(content.usages.map((usage) => purposes[usage])),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...alternativeNames(content),
    ],
  });
  return pemOf(certificate, keys.privateKey);
}

/** A certificate for the key, the subject and the alternative names of a request. @throws {InvalidInput} when it is not one, or not signed by its key */
export async function signRequestedCertificate(request: RequestSigning): Promise<string> {
  const wanted = await readRequest(request.requestPem);
  const issuer = new X509Certificate(request.authority.certPem);
  const flags = request.usages.reduce((all, usage) => all | (keyUsages[usage] ?? 0), 0);
  const extended = request.usages.flatMap((usage) => extendedUsages[usage] ?? []);
  const names = wanted.extensions.filter((extension) => extension instanceof SubjectAlternativeNameExtension);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: randomBytes(16).toString('hex'),
    issuer: issuer.subjectName,
    subject: wanted.subjectName,
    ...validity(request),
    publicKey: wanted.publicKey,
    signingKey: await importKey(request.authority.keyPem),
    extensions: [
      ...(flags === 0 ? [] : [new KeyUsagesExtension(flags, true)]),
      ...(extended.length === 0 ? [] : [new ExtendedKeyUsageExtension(extended)]),
      new BasicConstraintsExtension(false, undefined, true),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...names,
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** @param keyPem EC on a curve of NIST's */
export async function signOwnRequest(keyPem: string, names: RequestedNames): Promise<string> {
  const algorithm = { name: 'ECDSA', namedCurve: curveOf(keyPem) };
  const publicKey = createPublicKey(keyPem).export({ type: 'spki', format: 'der' });
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: nameOf(names),
    keys: {
      privateKey: await importKey(keyPem),
      publicKey: await webcrypto.subtle.importKey('spki', publicKey, algorithm, true, ['verify']),
    },
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [...alternativeNames(names)],
  });
  return `${request.toString('pem')}\n`;
}

function curveOf(keyPem: string): string {
  return curves[createPrivateKey(keyPem).asymmetricKeyDetails?.namedCurve ?? ''] ?? '';
}

async function readRequest(pem: string): Promise<Pkcs10CertificateRequest> {
  const unreadable = (cause: unknown) => new InvalidInput({ message: `unable to parse certificate request: ${messageOf(cause)}`, cause });
  const request = await Promise.resolve(pem)
    .then((text) => new Pkcs10CertificateRequest(text))
    .catch((error: unknown) => Promise.reject(unreadable(error)));
  if (await request.verify()) return request;
  throw new InvalidInput({ message: 'unable to verify certificate request signature' });
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(newKeys, true, ['sign', 'verify']);
}

async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const key = createPrivateKey(pem);
  const algorithm = key.asymmetricKeyType === 'rsa' ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } : { name: 'ECDSA', namedCurve: curveOf(pem) };
  return await webcrypto.subtle.importKey('pkcs8', key.export({ type: 'pkcs8', format: 'der' }), algorithm, false, ['sign']);
}

function nameOf(subject: CertificateContent['subject']): Name {
  const attribute = (type: 'O' | 'CN', value: string) => ({ [type]: [{ utf8String: value }] }); // a plain string would be read as RFC 4514
  return new Name([...subject.organizations.map((organization) => attribute('O', organization)), attribute('CN', subject.commonName)]);
}

function validity(content: Pick<CertificateContent, 'notBeforeMs' | 'notAfterMs'>): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(content.notBeforeMs), notAfter: new Date(content.notAfterMs) };
}

function alternativeNames(content: Pick<LeafContent, 'dnsNames' | 'ipAddresses'>): readonly Extension[] {
  const names = [
    ...content.dnsNames.map((value) => ({ type: 'dns', value }) as const),
    ...content.ipAddresses.map((value) => ({ type: 'ip', value }) as const),
  ];
  return names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)];
}

function pemOf(certificate: X509Certificate, key: webcrypto.CryptoKey): KeyAndCertificate {
  return {
    certPem: `${certificate.toString('pem')}\n`,
    keyPem: KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
