const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** The age of something as kubectl prints it: `45s`, `3m20s`, `5h`, `2d4h`. */
export function humanDuration(ms: number): string {
  if (ms < -second) return '<invalid>';
  if (ms < 0) return '0s';
  if (ms < 2 * minute) return `${Math.floor(ms / second)}s`;
  if (ms < 10 * minute) return pair(ms, minute, 'm', second, 's', 60);
  if (ms < 3 * hour) return `${Math.floor(ms / minute)}m`;
  if (ms < 8 * hour) return pair(ms, hour, 'h', minute, 'm', 60);
  if (ms < 2 * day) return `${Math.floor(ms / hour)}h`;
  if (ms < 8 * day) return pair(ms, day, 'd', hour, 'h', 24);
  if (ms < 2 * year) return `${Math.floor(ms / day)}d`;
  if (ms < 8 * year) return pair(ms, year, 'y', day, 'd', 365);
  return `${Math.floor(ms / year)}y`;
}

/** How long ago a time was, `<unknown>` when there is none. */
export function age(timestamp: string | undefined, nowMs: number): string {
  const atMs = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(atMs) ? '<unknown>' : humanDuration(nowMs - atMs);
}

function pair(ms: number, large: number, largeName: string, small: number, smallName: string, smallInLarge: number): string {
  const rest = Math.floor(ms / small) % smallInLarge;
  return `${Math.floor(ms / large)}${largeName}${rest === 0 ? '' : `${rest}${smallName}`}`;
}
