/** `metadata` and `status` times: RFC 3339 in whole seconds. */
export function timestamp(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Times of Leases and of events: upstream's servers take exactly six digits after the point. */
export function microTimestamp(atMs: number): string {
  return new Date(atMs).toISOString().replace(/Z$/, '000Z');
}
