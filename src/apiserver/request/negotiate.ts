import { notAcceptable } from '#api/status.ts';

export type Encoding = 'json' | 'yaml' | 'protobuf';
export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** How an answer is written. */
export interface OutputFormat {
  readonly encoding: Encoding;
  readonly as: 'object' | Transform;
  /** `v1` or `v1beta1`: of the form that `as` names. */
  readonly version: string;
  readonly isPretty: boolean;
}

/** What an endpoint can answer with. */
export interface Offer {
  readonly encodings: readonly Encoding[];
  readonly transforms: readonly Transform[];
  readonly isStream: boolean;
}

export const mediaTypes: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

/** Of the kinds whose messages are built in. */
export const objectOffer: Offer = {
  encodings: ['json', 'yaml', 'protobuf'],
  transforms: ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'],
  isStream: false,
};
export const watchOffer: Offer = { ...objectOffer, encodings: ['json', 'protobuf'], isStream: true };
/** What is not stored has no columns. */
export const reviewOffer: Offer = { ...objectOffer, transforms: ['PartialObjectMetadata', 'PartialObjectMetadataList'] };
export const documentOffer: Offer = { ...objectOffer, transforms: [] };

interface Clause {
  /** `application`, or `*`. */
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * The first clause of the `Accept` header that can be met decides; but whoever takes JSON in the same form too gets JSON: its bytes are
 * kept, protobuf would have to be made for each answer.
 *
 * @throws a 406 `StatusError` when no clause can be met
 */
export function negotiate(headers: Readonly<Record<string, string>>, query: URLSearchParams, offer: Offer = objectOffer): OutputFormat {
  const formats = clausesOf(headers['accept'] ?? '').flatMap((clause) => formatOf(clause, offer));
  const [first] = formats;
  if (first === undefined) throw notAcceptable(namesOf(offer));
  const chosen = first.encoding === 'protobuf' ? (formats.find((other) => other.encoding === 'json' && isSameForm(other, first)) ?? first) : first;
  return { ...chosen, isPretty: chosen.isPretty || prettyOf(headers['user-agent'] ?? '', query) };
}

/** How a failure is told to somebody whose wishes may themselves be the failure. */
export function negotiateFailure(headers: Readonly<Record<string, string>>, query: URLSearchParams): OutputFormat {
  const formats = clausesOf(headers['accept'] ?? '').flatMap((clause) => formatOf(clause, objectOffer));
  const encoding = formats.some((format) => format.encoding === 'json') ? 'json' : (formats[0]?.encoding ?? 'json');
  return { encoding, as: 'object', version: 'v1', isPretty: prettyOf(headers['user-agent'] ?? '', query) };
}

/** Clients send the same few headers again and again. */
const parsed = new Map<string, readonly Clause[]>();
const maxParsed = 64;

/** The clauses of an `Accept` header, the preferred ones first: by quality, then exact types before wildcards, then as they were sent. */
export function clausesOf(accept: string): readonly Clause[] {
  const known = parsed.get(accept);
  if (known !== undefined) return known;
  const clauses = parseClauses(accept);
  if (parsed.size >= maxParsed) parsed.clear();
  parsed.set(accept, clauses);
  return clauses;
}

function parseClauses(accept: string): readonly Clause[] {
  if (accept.trim() === '') return [{ type: '*', subtype: '*', parameters: new Map() }];
  return accept
    .split(',')
    .map(clauseOf)
    .map((clause) => ({ clause, quality: qualityOf(clause) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || wildcards(a.clause) - wildcards(b.clause))
    .map(({ clause }) => clause);
}

/** 1 where it cannot be read. */
function qualityOf({ parameters }: Clause): number {
  const quality = Number(parameters.get('q') ?? 1);
  return Number.isNaN(quality) ? 1 : quality;
}

function clauseOf(text: string): Clause {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
  const [type = '', subtype = ''] = name.toLowerCase().split('/');
  const pairs = parameters.map((parameter): readonly [string, string] => {
    const [key = '', value = ''] = parameter.split('=').map((part) => part.trim());
    return [key.toLowerCase(), value.replace(/^"(.*)"$/, '$1')];
  });
  return { type, subtype, parameters: new Map(pairs) };
}

function wildcards({ type, subtype }: Clause): number {
  return (type === '*' ? 1 : 0) + (subtype === '*' ? 1 : 0);
}

/** Whether the clause means this media type. */
export function isMet({ type, subtype }: Clause, mediaType: string): boolean {
  if (type === '*') return subtype === '*';
  const [ownType, ownSubtype] = mediaType.split('/');
  return type === ownType && (subtype === '*' || subtype === ownSubtype);
}

function formatOf(clause: Clause, offer: Offer): readonly OutputFormat[] {
  const { parameters } = clause;
  return offer.encodings
    .filter((encoding) => isMet(clause, mediaTypes[encoding]))
    .flatMap((encoding) => {
      const as = transformOf(parameters, encoding, offer);
      if (as === undefined || !isStreamAllowed(parameters.get('stream'), encoding) || !['', 'v1'].includes(parameters.get('sv') ?? '')) return [];
      return [{ encoding, as, version: parameters.get('v') ?? 'v1', isPretty: parameters.get('pretty') === '1' }];
    });
}

function isStreamAllowed(stream: string | undefined, encoding: Encoding): boolean {
  return stream === undefined || stream === '' || (stream === 'watch' && encoding !== 'yaml');
}

function transformOf(parameters: ReadonlyMap<string, string>, encoding: Encoding, { transforms }: Offer): OutputFormat['as'] | undefined {
  if (!['as', 'g', 'v'].some((name) => parameters.has(name))) return 'object';
  if (parameters.get('g') !== 'meta.k8s.io' || !['v1', 'v1beta1'].includes(parameters.get('v') ?? '')) return undefined;
  const as = transforms.find((transform) => transform === parameters.get('as'));
  const isJsonOnly = as === 'Table' || parameters.get('v') === 'v1beta1'; // the old version numbers its fields in another way
  return isJsonOnly && encoding === 'protobuf' ? undefined : as;
}

function isSameForm(a: OutputFormat, b: OutputFormat): boolean {
  return a.as === b.as && (a.as === 'object' || a.version === b.version);
}

function namesOf({ encodings, isStream }: Offer): readonly string[] {
  return encodings.map((encoding) => (isStream ? `${mediaTypes[encoding]};stream=watch` : mediaTypes[encoding]));
}

/** People who look at it with a browser or a download tool get it indented. */
function prettyOf(userAgent: string, query: URLSearchParams): boolean {
  const wanted = query.get('pretty') ?? '';
  if (wanted !== '') return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(wanted);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}
