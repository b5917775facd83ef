/**
 * Runs `cgroup2.guest.ts` in a virtual machine whose kernel has cgroup v2 alone: Debian's kernel, the host's own files below a layer in
 * memory. Emulated in software where the processor does not help: minutes instead of seconds, so the usual tests do without it.
 *
 * usage: npm run test:cgroup2 [-- WORD] (only the tests that have the word in their name; root, Debian; installs qemu-system-x86 when it is missing)
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const deadlineMs = 20 * 60_000;
const here = fileURLToPath(new URL('.', import.meta.url));
const cache = fileURLToPath(new URL('../../.cache/cgroup2', import.meta.url));
const say = (line: string) => process.stderr.write(`cgroup2: ${line}\n`);
const run = (program: string, args: readonly string[], cwd?: string) =>
  execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });

function ensureEmulator(): void {
  if (existsSync('/usr/bin/qemu-system-x86_64')) return;
  say('installing qemu-system-x86');
  run('apt-get', ['update', '-qq']);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'qemu-system-x86']);
}

/** Debian's kernel, unpacked and not installed: the host boots as before. */
async function ensureKernel(): Promise<string> {
  const root = join(cache, 'kernel');
  if (!existsSync(join(root, 'boot'))) {
    const wanted = /Depends: (linux-image-\S+)/.exec(run('apt-cache', ['depends', 'linux-image-amd64']))?.[1];
    if (wanted === undefined) throw new Error('apt knows no linux-image-amd64: run apt-get update');
    say(`fetching ${wanted}`);
    const folder = await mkdtemp(join(tmpdir(), 'kernel-'));
    try {
      run('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', wanted], folder);
      const [archive = ''] = await readdir(folder);
      await rm(root, { recursive: true, force: true });
      await mkdir(root, { recursive: true });
      run('dpkg-deb', ['-x', join(folder, archive), root]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return root;
}

/** busybox, the modules and `init.sh`, as the kernel unpacks them into memory. */
async function makeInitramfs(kernel: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'initramfs-'));
  try {
    const [release = ''] = await readdir(join(kernel, 'lib/modules'));
    const modules = join('lib/modules', release);
    await mkdir(join(folder, 'bin'), { recursive: true });
    await copyFile('/bin/busybox', join(folder, 'bin/busybox'));
    await copyFile(join(here, 'init.sh'), join(folder, 'init'));
    for (const part of [
      'net',
      'fs/9p',
      'fs/overlayfs',
      'fs/netfs',
      'fs/fscache',
      'drivers/virtio',
      'drivers/net',
      'drivers/block',
      'lib',
      'arch',
      'crypto',
    ]) {
      const from = join(kernel, modules, 'kernel', part);
      if (existsSync(from)) await cp(from, join(folder, modules, 'kernel', part), { recursive: true });
    }
    run('/bin/busybox', ['depmod', '-b', folder, release]);
    run('chmod', ['755', join(folder, 'init')]);
    const file = join(cache, 'initramfs');
    await writeFile(
      file,
      execFileSync('sh', ['-c', 'find . | /bin/busybox cpio -o -H newc 2>/dev/null'], { cwd: folder, maxBuffer: 512 * 1024 * 1024 }),
    );
    return file;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function bundleTests(): Promise<void> {
  // A build meanwhile must not take the files away under the machine.
  await rm(join(cache, 'dist'), { recursive: true, force: true });
  await cp(fileURLToPath(new URL('../../dist', import.meta.url)), join(cache, 'dist'), { recursive: true, dereference: true });
  await build({
    entryPoints: [join(here, 'cgroup2.guest.ts')],
    outfile: join(cache, 'cgroup2.guest.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['libsql', 'koffi', 'esbuild'],
    logLevel: 'warning',
    define: {
      'process.env.KUBERNODE_PROGRAM_FILE': JSON.stringify(fileURLToPath(new URL('../../.cache/cgroup2/dist/kubernode.js', import.meta.url))),
    },
    banner: { js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);" },
  });
}

/** The processor's help where it has any: a `/dev/kvm` alone is no sign of it. */
async function accelerator(): Promise<readonly string[]> {
  const helps = existsSync('/dev/kvm') && /^flags.*\b(vmx|svm)\b/m.test(await readFile('/proc/cpuinfo', 'utf8'));
  return helps ? ['-accel', 'kvm', '-cpu', 'host'] : ['-accel', 'tcg,thread=multi', '-cpu', 'max'];
}

async function boot(kernel: string, initramfs: string): Promise<number> {
  const image = (await readdir(join(kernel, 'boot'))).find((name) => name.startsWith('vmlinuz')) ?? '';
  const words = `console=ttyS0 quiet panic=-1 guest=${join(here, 'guest.sh')} node=${process.execPath} only=${process.argv[2] ?? '.'}`;
  const machine = [...(await accelerator()), '-smp', '2', '-m', '6G', '-no-reboot', '-display', 'none'];
  const shared = [
    '-fsdev',
    'local,id=host,path=/,security_model=none,readonly=on,multidevs=remap',
    '-device',
    'virtio-9p-pci,fsdev=host,mount_tag=host',
  ];
  const console = ['-chardev', 'stdio,id=console', '-serial', 'chardev:console', '-monitor', 'none'];
  const network = ['-netdev', 'user,id=net', '-device', 'virtio-net-pci,netdev=net'];
  const kernelWords = ['-kernel', join(kernel, 'boot', image), '-initrd', initramfs, '-append', words];
  const child = spawn('qemu-system-x86_64', [...machine, ...shared, ...console, ...network, ...kernelWords], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const late = setTimeout(() => {
    say(`ended after ${deadlineMs / 60_000} minutes`);
    child.kill('SIGKILL');
  }, deadlineMs);
  let code = 1;
  for await (const line of createInterface({ input: child.stdout })) {
    process.stdout.write(`${line}\n`);
    const ended = /^GUEST: ended with (\d+)/.exec(line.trim());
    if (ended !== null) code = Number(ended[1]);
  }
  clearTimeout(late);
  return code;
}

ensureEmulator();
await mkdir(cache, { recursive: true });
const kernel = await ensureKernel();
const [initramfs] = await Promise.all([makeInitramfs(kernel), bundleTests()]);
process.exitCode = await boot(kernel, initramfs);
