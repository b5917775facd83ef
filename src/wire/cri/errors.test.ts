import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrpcFailure } from '../grpc/failure.ts';
import { fromCri, withGrpcStatus } from './errors.ts';

// Texts as containerd 1.6.20 answered them; ids are shortened.
const recorded: readonly (readonly [code: string, status: number, details: string])[] = [
  ['CNI_FAILED', 2, 'failed to setup network for sandbox "fdbdd2fb": cni plugin not initialized'],
  ['CNI_FAILED', 2, 'failed to setup network for sandbox "4e194d01": plugin type="bridge" failed (add): invalid CIDR address: 10.64.0.0/33'],
  ['NAME_RESERVED', 2, 'failed to reserve sandbox name "p1_default_p1_0": name "p1_default_p1_0" is reserved for "003fd4b3"'],
  ['NAME_RESERVED', 2, 'failed to reserve container name "c4_p1_default_p1_0": name "c4_p1_default_p1_0" is reserved for "04ff131f"'],
  ['UNKNOWN_RUNTIME_HANDLER', 2, 'failed to get sandbox runtime: no runtime for "gvisor" is configured'],
  ['IMAGE_NOT_FOUND', 5, 'failed to resolve image "nope:1": not found'],
  ['INVALID_IMAGE_NAME', 2, 'failed to parse image reference "UPPER::x": invalid reference format: repository name must be lowercase'],
  [
    'REGISTRY_UNREACHABLE',
    2,
    'failed to pull and unpack image "localhost:1/x:1": failed to resolve reference "localhost:1/x:1": failed to do request: ' +
      'Head "http://localhost:1/v2/x/manifests/1": dial tcp 127.0.0.1:1: connect: connection refused',
  ],
  [
    'REGISTRY_UNREACHABLE',
    2,
    'failed to pull and unpack image "docker.io/library/nosuchthing:1": failed to resolve reference "docker.io/library/nosuchthing:1": ' +
      'failed to do request: Head "https://registry-1.docker.io/v2/library/nosuchthing/manifests/1": dial tcp: lookup registry-1.docker.io on 192.0.2.53:53: no such host',
  ],
  [
    'COMMAND_NOT_RUNNABLE',
    2,
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: ' +
      'unable to start container process: exec: "/nope": stat /nope: no such file or directory: unknown',
  ],
  [
    'COMMAND_NOT_RUNNABLE',
    2,
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: ' +
      'unable to start container process: exec: "nope": executable file not found in $PATH: unknown',
  ],
  [
    'COMMAND_NOT_RUNNABLE',
    2,
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: ' +
      'unable to start container process: exec: "/etc/passwd": permission denied: unknown',
  ],
  ['WRONG_STATE', 2, 'failed to set starting state for container "04ff131f": container is in CONTAINER_RUNNING state'],
  ['NOT_FOUND', 5, 'an error occurred when try to find container "nope": not found'],
  ['NOT_FOUND', 5, 'failed to get sandbox container task: no running task found: task 003fd4b3 not found: not found'],
  ['DEADLINE_EXCEEDED', 4, 'failed to exec in container: timeout 1s exceeded: context deadline exceeded'],
  ['UNAVAILABLE', 2, 'server is not initialized yet'],
  ['UNAVAILABLE', 14, 'No connection established. Last error: connect ENOENT /run/c.sock'],
  ['UNSUPPORTED', 12, 'unknown method GetContainerEvents for service runtime.v1.RuntimeService'],
  // As CRI-O words them.
  ['REGISTRY_UNAVAILABLE', 2, 'RegistryUnavailable: pinging container registry r.io: connection refused'],
  ['SIGNATURE_VALIDATION_FAILED', 2, 'SignatureValidationFailed: Source image rejected: A signature was required, but no signature exists'],
  ['RUNTIME_FAILED', 2, 'something that nobody has seen'],
];

for (const [code, status, details] of recorded) {
  test(`${JSON.stringify(details.slice(0, 90))} is ${code}`, () => {
    const error = fromCri(new GrpcFailure({ message: details, status, details }), 'start container c1');
    assert.equal(error.code, code);
    assert.equal(error.message, `start container c1: ${details}`);
  });
}

test('an answer is told with its gRPC status, unless that is UNKNOWN', () => {
  const told = (status: number) => withGrpcStatus(fromCri(new GrpcFailure({ message: 'no', status, details: 'no' }), 'pull image x'));
  assert.deepEqual([told(5), told(2), withGrpcStatus(new Error('boom'))], ['rpc error: code = NotFound desc = no', 'no', 'boom']);
});
