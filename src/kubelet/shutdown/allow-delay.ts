import type { Clock } from '#base/clock.ts';
import { DeadlineExceeded } from '#base/errors.ts';
import type { FilesPort } from '../ports/files.ts';
import type { LogindSession } from '../ports/logind.ts';

const configurationFolder = '/etc/systemd/logind.conf.d';
const firstWaitMs = 100;
const tries = 5;

/**
 * Sees to it that the host's shutdown can be held up for so long: where the login manager allows less, its configuration is overridden.
 *
 * @throws {DeadlineExceeded} when it does not take that up
 */
export async function allowDelay(
  session: LogindSession,
  seconds: number,
  { files, clock }: { readonly files: FilesPort; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  if ((await session.inhibitDelayMs(signal)) >= seconds * 1000) return;
  await files.ensureDirectory(configurationFolder, 0o755, signal);
  const text = `# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=${seconds}\n`;
  await files.write(`${configurationFolder}/99-kubelet.conf`, text, 0o644, signal);
  await session.reload(signal);
  let delayMs = 0;
  // It reads its configuration when it comes to it, and tells nobody.
  for (let tried = 0, waitMs = firstWaitMs; tried < tries; tried += 1, waitMs *= 2) {
    delayMs = await session.inhibitDelayMs(signal);
    if (delayMs >= seconds * 1000) return;
    await clock.sleep(waitMs, signal);
  }
  const wanted = `logind InhibitDelayMaxSec to update to ${seconds}s (ShutdownGracePeriod), current value is ${delayMs / 1000}s`;
  throw new DeadlineExceeded({ message: `node shutdown manager was timed out after ${tries} attempts waiting for ${wanted}` });
}
