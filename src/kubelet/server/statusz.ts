export interface ProcessFacts {
  readonly startedAtMs: number;
  readonly nowMs: number;
  /** `v1.36.0` */
  readonly version: string;
  readonly paths: readonly string[];
}

/** `/statusz`: for people, in upstream's lines where they apply to us. */
export function statusText({ startedAtMs, nowMs, version, paths }: ProcessFacts): string {
  const seconds = Math.floor((nowMs - startedAtMs) / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60].map((part) =>
    String(part).padStart(2, '0'),
  );
  const plain = version.replace(/^v/, '');
  return [
    '',
    'kubelet statusz',
    'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.',
    '',
    `Started: ${new Date(startedAtMs).toUTCString()}`,
    `Up: ${hours} hr ${minutes} min ${rest} sec`,
    `Binary version: ${plain}`,
    `Emulation version: ${plain.split('.').slice(0, 2).join('.')}`,
    `Paths: ${paths.join(' ')}`,
    '',
  ].join('\n');
}
