import { after } from 'node:test';
import { runtimeContract } from '#kubelet/runtime/testing/runtime-contract.ts';
import { createLinuxCgroups } from '#os/linux/cgroups.ts';
import { createLinuxFiles } from '#os/linux/files.ts';
import { hostSide, never } from '../support/host-side.ts';

// What the kubelet relies on in a runtime, held by the real one: the same suite that the runtime in memory passes.
const side = await hostSide();
const cgroupParent = `/kubernode/${side.name}/contract`;
const runtime = side.runtime();
after(async () => {
  runtime.close();
  await createLinuxCgroups().remove(cgroupParent, never);
});

runtimeContract('containerd', async () => {
  await side.up();
  return {
    runtime,
    files: createLinuxFiles(),
    image: 'docker.io/library/busybox:latest',
    cgroupParent,
    logRoot: `${side.dataDir}/pod-logs`,
    end: async (containerId, exitCode) => {
      await runtime.execSync(containerId, ['sh', '-c', `echo ${exitCode} > /code && mv /code /end`], 5, never);
    },
  };
});
