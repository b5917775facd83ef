import { CertificationRequest } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import { type Attribute, Extensions, type GeneralName, SubjectAlternativeName } from '@peculiar/asn1-x509';
import type { CertificateRequestContent } from './certificate-request.ts';

const commonNameId = '2.5.4.3';
const organizationId = '2.5.4.10';
const alternativeNamesId = '2.5.29.17';
const extensionRequestId = '1.2.840.113549.1.9.14';

/**
 * Whoever signs reads the PEM anew: with one block and nothing beside it both read the same.
 *
 * @param pem PKCS#10 @returns undefined for what is not exactly one request
 */
export function parseRequest(pem: string): CertificateRequestContent | undefined {
  const [, base64] = /^\s*-----BEGIN CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE REQUEST-----\s*$/.exec(pem) ?? [];
  if (base64 === undefined) return undefined;
  try {
    const { certificationRequestInfo } = AsnConvert.parse(Buffer.from(base64, 'base64'), CertificationRequest);
    const subject = [...certificationRequestInfo.subject].flatMap((part) => [...part]);
    const valuesOf = (id: string) => subject.filter(({ type }) => type === id).map(({ value }) => value.toString());
    const names = alternativeNames([...(certificationRequestInfo.attributes ?? [])]);
    return {
      commonName: valuesOf(commonNameId).at(-1) ?? '',
      organizations: valuesOf(organizationId),
      dnsNames: names.flatMap(({ dNSName }) => dNSName ?? []),
      emailAddresses: names.flatMap(({ rfc822Name }) => rfc822Name ?? []),
      ipAddresses: names.flatMap(({ iPAddress }) => iPAddress ?? []),
      uris: names.flatMap(({ uniformResourceIdentifier }) => uniformResourceIdentifier ?? []),
    };
  } catch {
    return undefined; // whatever the parser stumbles over
  }
}

function alternativeNames(attributes: readonly Attribute[]): readonly GeneralName[] {
  const requested = attributes.filter(({ type }) => type === extensionRequestId).flatMap(({ values }) => values);
  const extensions = requested.flatMap((value) => [...AsnConvert.parse(value, Extensions)]);
  return extensions
    .filter(({ extnID }) => extnID === alternativeNamesId)
    .flatMap(({ extnValue }) => [...AsnConvert.parse(extnValue.buffer, SubjectAlternativeName)]);
}
