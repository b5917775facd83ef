import type { ContainerStatus } from '#wire/generated/cri.ts';
import type { FilesPort } from '../ports/files.ts';
import { annotation } from './labels.ts';

const maxMessageBytes = 4096;
const maxLogBytes = 2048;
const maxLogLines = 80;

/** What an ended container left in its termination log, or, if it asked for that and failed without a word, the end of its log. */
export async function lastWords(status: ContainerStatus, files: FilesPort, signal: AbortSignal): Promise<string> {
  const path = status.annotations[annotation.terminationMessagePath] ?? '';
  const hostPath = path === '' ? undefined : status.mounts.find((mount) => mount.containerPath === path)?.hostPath;
  const written = hostPath === undefined ? undefined : await files.read(hostPath, signal);
  const message = text(written?.subarray(0, maxMessageBytes));
  const asksLog = status.annotations[annotation.terminationMessagePolicy] === 'FallbackToLogsOnError';
  if (message !== '' || !asksLog || status.exitCode === 0 || status.reason === 'ContainerCannotRun' || status.logPath === '') return message;
  const log = text(await files.read(status.logPath, signal));
  const lines = log
    .split('\n')
    .filter((line) => line !== '')
    .slice(-maxLogLines)
    .map(payloadOf);
  return text(new TextEncoder().encode(lines.join('\n')).subarray(-maxLogBytes));
}

/** The runtime writes a line as time, stream, tag, content. */
function payloadOf(line: string): string {
  return /^\S+ (?:stdout|stderr) \S+ (.*)$/.exec(line)?.[1] ?? line;
}

function text(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : new TextDecoder().decode(bytes);
}
