import { InvalidInput } from '#base/errors.ts';
import { quote } from '../../quote.ts';

const nanosOf: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** A duration as Go prints it: `1h0m0s`, `1.5s`, `20ms`. */
export function formatGoDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const rest = nanos < 0n ? -nanos : nanos;
  for (const [limit, unit, name] of [
    [1000n, 1n, 'ns'],
    [1_000_000n, 1000n, 'µs'],
    [1_000_000_000n, 1_000_000n, 'ms'],
  ] as const) {
    if (rest < limit) return `${sign}${fraction(rest, unit)}${name}`;
  }
  const minutes = rest / 60_000_000_000n;
  const seconds = `${fraction(rest % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** Nanoseconds of a duration such as `1h30m`, `-1.5s`, `0`. @throws {InvalidInput} */
export function parseGoDuration(text: string): bigint {
  const sign = text.startsWith('-') ? -1n : 1n;
  const body = text.replace(/^[-+]/, '');
  if (body === '0') return 0n;
  if (!/^((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(body)) throw new InvalidInput({ message: `time: invalid duration ${quote(text)}` });
  let nanos = 0n;
  for (const [, whole = '', , decimals = '', unit = ''] of body.matchAll(/(\d*)(\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = nanosOf[unit] ?? 0n;
    const digits = decimals.slice(0, 18);
    nanos += BigInt(whole || '0') * scale + (BigInt(digits || '0') * scale) / 10n ** BigInt(digits.length);
  }
  return sign * nanos;
}

function fraction(value: bigint, unit: bigint): string {
  const whole = value / unit;
  const rest = value % unit;
  if (rest === 0n) return String(whole);
  return `${whole}.${String(rest)
    .padStart(String(unit).length - 1, '0')
    .replace(/0+$/, '')}`;
}
