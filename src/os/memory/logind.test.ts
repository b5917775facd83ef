import assert from 'node:assert/strict';
import { logindContract } from '../contracts/logind.ts';
import { MemoryLogind } from './logind.ts';

logindContract('memory', async () => {
  const logind = new MemoryLogind();
  logind.delayAfterReloadMs = 60_000;
  return {
    logind,
    delaysMs: [5000, 60_000],
    untilLocks: async (count) => assert.equal(logind.locks, count),
    announce: async (isShuttingDown) => logind.announce(isShuttingDown),
    end: async () => {
      logind.isReachable = false;
      logind.drop();
    },
  };
});
