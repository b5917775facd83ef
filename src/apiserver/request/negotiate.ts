import { notAcceptable } from '#api/status.ts';

/** How an answer is written. */
export interface OutputFormat {
  readonly encoding: 'json' | 'yaml';
  readonly as: 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  /** `v1` or `v1beta1`: of the form that `as` names. */
  readonly version: string;
  readonly isPretty: boolean;
}

export const acceptedMediaTypes = ['application/json', 'application/yaml'] as const;

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** @throws a 406 `StatusError` when no clause of the `Accept` header can be met */
export function negotiate(headers: Readonly<Record<string, string>>, query: URLSearchParams): OutputFormat {
  const isPretty = prettyOf(headers['user-agent'] ?? '', query);
  for (const clause of clausesOf(headers['accept'] ?? '')) {
    const encoding = encodingOf(clause.type);
    const as = encoding === undefined ? undefined : transformOf(clause);
    if (encoding === undefined || as === undefined) continue;
    return { encoding, as, version: clause.parameters.get('v') ?? 'v1', isPretty: isPretty || clause.parameters.get('pretty') === '1' };
  }
  throw notAcceptable(acceptedMediaTypes);
}

/** The clauses of an `Accept` header, the preferred ones first. */
export function clausesOf(accept: string): readonly Clause[] {
  if (accept.trim() === '') return [{ type: '*/*', parameters: new Map() }];
  return accept
    .split(',')
    .map((text) => {
      const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
      return {
        type: type.toLowerCase(),
        parameters: new Map(
          parameters.map((parameter) => {
            const [key = '', value = ''] = parameter.split('=');
            return [key.trim().toLowerCase(), value.trim()] as const;
          }),
        ),
      };
    })
    .map((clause) => ({ clause, quality: Number(clause.parameters.get('q') ?? 1) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ clause }) => clause);
}

function encodingOf(type: string): OutputFormat['encoding'] | undefined {
  if (type === '*/*' || type === 'application/*' || type === 'application/json') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}

function transformOf({ parameters }: Clause): OutputFormat['as'] | undefined {
  const as = parameters.get('as');
  if (as === undefined) return 'object';
  if (parameters.get('g') !== 'meta.k8s.io' || !['v1', 'v1beta1'].includes(parameters.get('v') ?? '')) return undefined;
  return as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? as : undefined;
}

/** People who look at it with a browser or a download tool get it indented. */
function prettyOf(userAgent: string, query: URLSearchParams): boolean {
  const wanted = query.get('pretty');
  if (wanted !== null) return wanted !== 'false' && wanted !== '0';
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}
