import 'reflect-metadata'; // before the library, which refuses to load without
import { type JsonName, Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '@peculiar/x509';
import type { CertificateRequestContent } from './certificate-request.ts';

/** @param pem PKCS#10 @returns undefined for what is no request */
export function parseRequest(pem: string): CertificateRequestContent | undefined {
  const request = read(pem);
  if (request === undefined) return undefined;
  const subject = request.subjectName.toJSON();
  const names = request.extensions.flatMap((extension) => (extension instanceof SubjectAlternativeNameExtension ? extension.names.items : []));
  const namesOf = (type: (typeof names)[number]['type']) => names.filter((name) => name.type === type).map(({ value }) => value);
  return {
    commonName: attribute(subject, 'CN').at(-1) ?? '',
    organizations: attribute(subject, 'O'),
    dnsNames: namesOf('dns'),
    emailAddresses: namesOf('email'),
    ipAddresses: namesOf('ip'),
    uris: namesOf('url'),
  };
}

function read(pem: string): Pkcs10CertificateRequest | undefined {
  try {
    return new Pkcs10CertificateRequest(pem);
  } catch {
    return undefined; // whatever the parser stumbles over
  }
}

/** Each value comes in a list of one. */
function attribute(subject: JsonName, type: string): readonly string[] {
  return subject.flatMap((part) => part[type] ?? []);
}
