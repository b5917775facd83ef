import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type KubectlVersion, kubectlHome, kubectlPath, kubectlVersions, outputOf } from '../support/kubectl.ts';
import { apply, busybox, sleeper, waitForField, waitForPod } from '../support/pods.ts';
import { startCluster } from '../support/start-cluster.ts';

const cluster = await startCluster();
const folder = await mkdtemp(join(tmpdir(), 'kubectl-e2e-'));
after(() => rm(folder, { recursive: true, force: true }));

const web = (name: string) =>
  sleeper(name, {}, { command: ['sh', '-c', 'mkdir /www; echo hello > /www/index.html; echo serving; exec httpd -f -p 8080 -h /www'] });

/** Reads a program's output until it holds `words`, then ends the program. */
function readUntil(version: KubectlVersion, args: readonly string[], words: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(kubectlPath(version), ['--kubeconfig', cluster.kubeconfig, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { HOME: kubectlHome(cluster.kubeconfig) },
    });
    let text = '';
    const late = setTimeout(() => child.kill('SIGKILL'), 30_000);
    const read = (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (text.includes(words)) child.kill('SIGTERM');
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(late);
      if (text.includes(words)) resolve(text);
      else reject(new Error(`kubectl ${args.join(' ')} never said ${JSON.stringify(words)}: ${text}`));
    });
  });
}

for (const version of kubectlVersions) {
  const kubectl = cluster.kubectlOf(version);
  const name = `web-${version.replace('.', '-')}`;

  describe(`kubectl ${version}`, () => {
    test('apply, get as a table, wide and as YAML, describe', async () => {
      assert.equal(await apply(kubectl, web(name)), `pod/${name} created\n`);
      await waitForPod(cluster.kubectl, name);
      assert.equal(await apply(kubectl, web(name)), `pod/${name} unchanged\n`);
      assert.match(outputOf(await kubectl(`get pod ${name}`)), new RegExp(`^NAME +READY +STATUS +RESTARTS +AGE\n${name} +1/1 +Running +0 +\\d+s\n$`));
      assert.match(outputOf(await kubectl(`get pod ${name} -o wide`)), /IP +NODE +NOMINATED NODE +READINESS GATES/);
      assert.match(
        outputOf(await kubectl(`get pod ${name} -o yaml`)),
        new RegExp(`^kind: Pod\nmetadata:[\\s\\S]*\n  name: ${name}\n[\\s\\S]*phase: Running`, 'm'),
      );
      const described = outputOf(await kubectl(`describe pod ${name}`));
      for (const words of [
        /^Name: +web-/m,
        /^Status: +Running$/m,
        /^ +PodScheduled +True/m,
        /Scheduled.*Successfully assigned default\/web-/,
        /Created/,
        /Started/,
      ]) {
        assert.match(described, words);
      }
    });

    test('a watch shows what happens to a pod', async () => {
      const watched = readUntil(version, ['get', 'pods', '--watch', '--no-headers', '--field-selector', `metadata.name=watched-${name}`], 'Running');
      await apply(kubectl, sleeper(`watched-${name}`));
      assert.match(await watched, /0\/1 +(Pending|ContainerCreating)[\s\S]*1\/1 +Running/);
    });

    test('logs, and logs that follow', async () => {
      assert.equal(outputOf(await kubectl(`logs ${name}`)), 'serving\n');
      const talker = sleeper(`talker-${name}`, {}, { command: ['sh', '-c', 'i=0; while true; do i=$((i+1)); echo line $i; sleep 0.2; done'] });
      await apply(kubectl, talker);
      await waitForPod(cluster.kubectl, `talker-${name}`);
      assert.match(await readUntil(version, ['logs', '-f', `talker-${name}`], 'line 5'), /^line 1\nline 2\nline 3\nline 4\nline 5\n/);
      assert.equal(
        outputOf(await kubectl(`logs talker-${name} --tail=1 --timestamps`))
          .trim()
          .split(' ').length,
        3,
      );
    });

    test('exec carries input, output and the exit code', async () => {
      assert.equal(outputOf(await kubectl(`exec ${name} -- cat /www/index.html`)), 'hello\n');
      const failed = await kubectl(['exec', name, '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']);
      assert.equal(failed.stdout, 'out\n');
      assert.match(failed.stderr, /^err\n/);
      assert.equal(failed.code, 7);
      assert.equal(outputOf(await kubectl(`exec -i ${name} -- cat`, { input: 'through and back' })), 'through and back');
    });

    test('cp carries a file there and back', async () => {
      const [there, back] = [join(folder, `${version}-there`), join(folder, `${version}-back`)];
      const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
      await writeFile(there, content);
      outputOf(await kubectl(`cp ${there} ${name}:/tmp/copied`));
      outputOf(await kubectl(`cp ${name}:/tmp/copied ${back}`));
      assert.ok(content.equals(await readFile(back)));
    });

    test('port-forward reaches the pod', async () => {
      const child = spawn(kubectlPath(version), ['--kubeconfig', cluster.kubeconfig, 'port-forward', `pod/${name}`, ':8080'], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { HOME: kubectlHome(cluster.kubeconfig) },
      });
      try {
        const port = await new Promise<string>((resolve, reject) => {
          child.stdout.on('data', (chunk: Buffer) => {
            const found = /127\.0\.0\.1:(\d+)/.exec(chunk.toString('utf8'))?.[1];
            if (found !== undefined) resolve(found);
          });
          child.on('exit', (code) => reject(new Error(`port-forward ended with ${code}`)));
        });
        for (let request = 0; request < 3; request++) assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'hello\n');
      } finally {
        child.kill('SIGTERM');
      }
    });

    test('logs --previous shows the container that ended', async () => {
      const volumes = [{ name: 'seen', emptyDir: {} }];
      const container = {
        command: ['sh', '-c', 'test -e /seen/once && exec sleep 100000; touch /seen/once; echo first; exit 1'],
        volumeMounts: [{ name: 'seen', mountPath: '/seen' }],
      };
      await apply(kubectl, sleeper(`again-${name}`, { volumes }, container));
      await waitForField(cluster.kubectl, `again-${name}`, '{.status.containerStatuses[0].restartCount}', '1');
      await waitForPod(cluster.kubectl, `again-${name}`);
      assert.equal(outputOf(await kubectl(`logs again-${name} --previous`)), 'first\n');
    });

    test('delete takes the pod away', async () => {
      assert.match(outputOf(await kubectl(`delete pod ${name} watched-${name} talker-${name} again-${name}`)), new RegExp(`^pod "${name}" deleted`));
      const gone = await kubectl(`get pod ${name}`);
      assert.equal(gone.code, 1);
      assert.match(gone.stderr, new RegExp(`Error from server \\(NotFound\\): pods "${name}" not found`));
    });
  });
}

test('an image that is not there and cannot be pulled is told as kubectl users know it', async () => {
  await apply(cluster.kubectl, sleeper('no-image', {}, { image: `${busybox.replace(':latest', '')}:absent`, imagePullPolicy: 'Never' }));
  await waitForField(cluster.kubectl, 'no-image', '{.status.containerStatuses[0].state.waiting.reason}', 'ErrImageNeverPull');
  assert.match(outputOf(await cluster.kubectl('get pod no-image --no-headers')), /0\/1 +ErrImageNeverPull/);
});

test('the figures of the API server can be read', async () => {
  const stdout = outputOf(await cluster.kubectl('get --raw /metrics'));
  assert.match(stdout, /^apiserver_request_total\{verb="POST",.*resource="nodes".*code="201"\} 1$/m);
  assert.match(stdout, /^process_resident_memory_bytes \d+$/m);
});
