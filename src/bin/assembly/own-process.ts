import { systemClock } from '#base/clock.ts';
import type { OwnProcessPort } from '#kubelet/ports/own-process.ts';
import { setVerbose } from './part-logger.ts';

/** From this of klog's levels on steps are told one by one. */
const verboseFrom = 4;

/** This process, for those who debug it. */
export const ownProcess: OwnProcessPort = {
  commandLine: process.argv,
  async cpuProfile(durationMs, signal) {
    const { Session } = await import('node:inspector/promises'); // costs something, and few ever ask
    const session = new Session();
    session.connect();
    try {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
      await systemClock.sleep(durationMs, signal);
      const { profile } = await session.post('Profiler.stop');
      return JSON.stringify(profile);
    } finally {
      session.disconnect();
    }
  },
  setVerbosity: (level) => setVerbose(level >= verboseFrom),
};
