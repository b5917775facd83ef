import { systemClock } from '#base/clock.ts';
import { createMemoryFiles } from '#os/memory/files.ts';
import { MemoryTree } from '#os/memory/memory-tree.ts';
import { MemoryRuntime } from './testing/memory-runtime.ts';
import { runtimeContract } from './testing/runtime-contract.ts';

runtimeContract('memory runtime', async () => {
  const runtime = new MemoryRuntime(systemClock, { exitLagMs: 40 });
  return {
    runtime,
    files: createMemoryFiles(new MemoryTree()),
    image: 'docker.io/library/busybox:latest',
    cgroupParent: '/pods',
    logRoot: '/logs',
    end: async (containerId, exitCode) => runtime.exit(containerId, exitCode),
  };
});
