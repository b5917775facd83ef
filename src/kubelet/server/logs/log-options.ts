export interface LogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  /** Epoch; older lines are left out. */
  readonly sinceMs: number | undefined;
  /** Counted in lines of the file. */
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** `All`, or one of `Stdout` and `Stderr`, which an alpha gate would bring. */
  readonly stream: string;
}

export type ParsedLogOptions =
  | { readonly ok: true; readonly options: LogOptions }
  | { readonly ok: false; readonly status: 400 | 422; readonly text: string };

/** @param nowMs epoch, what `sinceSeconds` counts back from */
export function parseLogOptions(query: URLSearchParams, nowMs: number): ParsedLogOptions {
  const sinceSeconds = integerAt(query, 'sinceSeconds');
  const tailLines = query.get('tail') === 'all' ? undefined : (integerAt(query, 'tailLines') ?? integerAt(query, 'tail'));
  const limitBytes = integerAt(query, 'limitBytes');
  const sinceTime = query.get('sinceTime') ?? '';
  const sinceTimeMs = sinceTime === '' ? undefined : Date.parse(sinceTime);
  if ([sinceSeconds, tailLines, limitBytes, sinceTimeMs].some(Number.isNaN))
    return { ok: false, status: 400, text: '{"message": "Unable to decode query."}' };
  const bothSince = sinceSeconds !== undefined && sinceTimeMs !== undefined;
  const stream = query.get('stream') || 'All';
  if (!streams.has(stream) || bothSince || (sinceSeconds ?? 1) < 1 || (tailLines ?? 0) < 0 || (limitBytes ?? 1) < 1) {
    return { ok: false, status: 422, text: '{"message": "Invalid request."}' };
  }
  const sinceMs = sinceSeconds === undefined ? sinceTimeMs : nowMs - sinceSeconds * 1000;
  const flag = (name: string): boolean => trueWords.has(query.get(name) ?? '');
  return {
    ok: true,
    options: { follow: flag('follow'), previous: flag('previous'), timestamps: flag('timestamps'), sinceMs, tailLines, limitBytes, stream },
  };
}

const streams: ReadonlySet<string> = new Set(['All', 'Stdout', 'Stderr']);
const trueWords: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

function integerAt(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}
