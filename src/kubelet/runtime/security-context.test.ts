import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod, type DeepPartial } from '#api/testing/objects.ts';
import type { PodSecurityContext, PodSpec, SecurityContext } from '#api/types/core-v1.ts';
import { type LinuxContainerSecurityContext, NamespaceMode, SecurityProfile_ProfileType } from '#wire/generated/cri.ts';
import { ContainerConfigError } from './environment.ts';
import { containerSecurityContext, type ImageUser, type SecurityInput } from './security-context.ts';
import { usersOfNode } from './user-namespaces.ts';

const root: ImageUser = { uid: undefined, username: '' };

function contextOf(
  own: DeepPartial<SecurityContext>,
  shared: DeepPartial<PodSecurityContext> = {},
  image = root,
  spec: DeepPartial<PodSpec> = {},
  more: Partial<SecurityInput> = {},
): LinuxContainerSecurityContext {
  const pod = aPod({ spec: { securityContext: shared, ...spec } });
  const input = { image, targetId: '', users: usersOfNode, seccompRoot: '/seccomp', seccompDefault: false, maskedOnNode: [], ...more };
  return containerSecurityContext(pod, aContainer({ securityContext: own }), input);
}

test('the container’s wishes go before the pod’s, and those before the image’s', () => {
  const userOf = ({ runAsUser, runAsUsername }: LinuxContainerSecurityContext) => [runAsUser?.value, runAsUsername];
  const image = { uid: 3, username: '' };
  assert.deepEqual(userOf(contextOf({ runAsUser: 1 }, { runAsUser: 2 }, image)), [1, '']);
  assert.deepEqual(userOf(contextOf({}, { runAsUser: 2 }, image)), [2, '']);
  assert.deepEqual(userOf(contextOf({}, {}, image)), [3, '']);
  assert.deepEqual(userOf(contextOf({}, {}, { uid: undefined, username: 'www' })), [undefined, 'www']);
});

test('who may not be root is refused before it starts', () => {
  const refused = (message: RegExp, own: DeepPartial<SecurityContext>, image = root) =>
    assert.throws(
      () => contextOf(own, { runAsNonRoot: true }, image),
      (error) => error instanceof ContainerConfigError && message.test(error.message),
    );
  refused(/^container's runAsUser breaks non-root policy \(pod: "web_default\(uid-of-web\)", container: main\)$/, { runAsUser: 0 });
  refused(/^container has runAsNonRoot and image will run as root/, {});
  refused(/image has non-numeric user \(www\), cannot verify user is non-root/, {}, { uid: undefined, username: 'www' });
  assert.equal(contextOf({ runAsUser: 5 }, { runAsNonRoot: true }).runAsUser?.value, 5);
});

test('no new privileges only when escalation is forbidden; the kernel’s files are masked unless unmasked', () => {
  assert.deepEqual([contextOf({}).noNewPrivs, contextOf({ allowPrivilegeEscalation: false }).noNewPrivs], [false, true]);
  assert.ok(contextOf({ privileged: true }).maskedPaths.includes('/proc/kcore'));
  assert.deepEqual([contextOf({ procMount: 'Unmasked' }).maskedPaths, contextOf({ procMount: 'Unmasked' }).readonlyPaths], [[], []]);
});

test('seccomp and AppArmor: own, else the pod’s, else none; a local one has a name', () => {
  assert.equal(contextOf({}).seccomp?.profileType, SecurityProfile_ProfileType.Unconfined);
  assert.equal(contextOf({}, { seccompProfile: { type: 'RuntimeDefault' } }).seccomp?.profileType, SecurityProfile_ProfileType.RuntimeDefault);
  assert.equal(contextOf({ seccompProfile: { type: 'Localhost', localhostProfile: 'a.json' } }).seccomp?.localhostRef, '/seccomp/a.json');
  assert.throws(() => contextOf({ seccompProfile: { type: 'Localhost' } }), /localhostProfile must be set if seccompProfile type is Localhost\./);
  assert.deepEqual(
    [contextOf({}).apparmor, contextOf({ appArmorProfile: { type: 'Localhost', localhostProfile: 'mine' } }).apparmorProfile],
    [undefined, 'localhost/mine'],
  );
});

test('an ephemeral container sees the processes of its target', () => {
  const { pid, targetId } = contextOf({}, {}, root, {}, { targetId: 'main-0' }).namespaceOptions ?? {};
  assert.deepEqual([pid, targetId], [NamespaceMode.TARGET, 'main-0']);
});

test('a kubelet may give the runtime’s own seccomp profile to all that say nothing', () => {
  const typeOf = (own: DeepPartial<SecurityContext>) => contextOf(own, {}, root, {}, { seccompDefault: true }).seccomp?.profileType;
  assert.deepEqual(
    [typeOf({}), typeOf({ seccompProfile: { type: 'Unconfined' } })],
    [SecurityProfile_ProfileType.RuntimeDefault, SecurityProfile_ProfileType.Unconfined],
  );
});

test('what this node’s processors tell is masked too', () => {
  const maskedOnNode = ['/sys/devices/system/cpu/cpu0/thermal_throttle'];
  assert.ok(contextOf({}, {}, root, {}, { maskedOnNode }).maskedPaths.includes('/sys/devices/system/cpu/cpu0/thermal_throttle'));
  assert.deepEqual(contextOf({ procMount: 'Unmasked' }, {}, root, {}, { maskedOnNode }).maskedPaths, []);
});

test('a policy for groups that nobody knows is refused', () => {
  assert.throws(() => contextOf({}, { supplementalGroupsPolicy: 'Some' }), { message: 'unsupported supplementalGroupsPolicy: Some' });
});
