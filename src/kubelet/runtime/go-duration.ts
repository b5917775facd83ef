/** Milliseconds as Go prints a duration: `150ms`, `2.5s`, `1m20s`, `5m0s`. */
export function goDuration(ms: number): string {
  const whole = Math.trunc(ms);
  if (whole < 1000) return whole === 0 ? '0s' : `${whole}ms`;
  const hours = Math.floor(whole / 3_600_000);
  const minutes = Math.floor((whole % 3_600_000) / 60_000);
  const seconds = (whole % 60_000) / 1000;
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`;
}
