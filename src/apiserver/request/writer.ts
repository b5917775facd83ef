import type { WriteOptions } from './query-options.ts';
import type { ApiRequest } from './route.ts';
import type { User } from './user.ts';

/** Who writes, and how. */
export interface Writer {
  readonly user: User;
  /** Everything happens but the storing. */
  readonly isDryRun: boolean;
  /** Whose fields they become: `fieldManager`, else the program of the User-Agent. */
  readonly fieldManager: string;
  /** Tells the client something beside the answer. */
  warn(text: string): void;
}

/** A writer that keeps its warnings for the answer. */
export interface RequestWriter extends Writer {
  readonly warnings: readonly string[];
}

const managerMaxLength = 128;
/** All of them have to fit in 4096 characters of headers. */
const maxWarnings = 256;

export function writerOf(request: ApiRequest & { readonly user: User }, options: Pick<WriteOptions, 'isDryRun'>): RequestWriter {
  const warnings: string[] = [];
  return {
    user: request.user,
    isDryRun: options.isDryRun,
    fieldManager: request.query.get('fieldManager') || managerOfUserAgent(request.headers['user-agent'] ?? ''),
    warnings,
    warn: (text) => {
      if (warnings.length < maxWarnings && !warnings.includes(text)) warnings.push(text);
    },
  };
}

/** A writer inside the server. */
export function internalWriter(user: User): Writer {
  return { user, isDryRun: false, fieldManager: 'kube-apiserver', warn: () => undefined };
}

/** `kubectl/v1.36 (linux/amd64) …` is `kubectl`; what cannot be printed is left out. */
function managerOfUserAgent(userAgent: string): string {
  const [program = ''] = userAgent.split('/');
  return program.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '').slice(0, managerMaxLength);
}
