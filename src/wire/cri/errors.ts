import { AppError, type AppErrorInit, Cancelled, DeadlineExceeded, messageOf, NotFound, Unavailable } from '#base/errors.ts';
import { GrpcFailure, grpcStatus } from '../grpc/failure.ts';

/** The runtime said no. `details` is its own text. */
export abstract class RuntimeError extends AppError {
  readonly details: string;

  constructor(init: AppErrorInit & { readonly details: string }) {
    super(init);
    this.details = init.details;
  }
}

/** Anything that has no class of its own. */
export class RuntimeFailed extends RuntimeError {
  readonly code = 'RUNTIME_FAILED';
  readonly retry = 'backoff';
}

/** No registry that was asked has the image, or the runtime does not. */
export class ImageNotFound extends RuntimeError {
  readonly code = 'IMAGE_NOT_FOUND';
  readonly retry = 'backoff';
}

export class ImageAccessDenied extends RuntimeError {
  readonly code = 'IMAGE_ACCESS_DENIED';
  readonly retry = 'backoff';
}

export class RegistryUnreachable extends RuntimeError {
  readonly code = 'REGISTRY_UNREACHABLE';
  readonly retry = 'backoff';
}

/** The runtime's own word for it, which only some runtimes say. */
export class RegistryUnavailable extends RuntimeError {
  readonly code = 'REGISTRY_UNAVAILABLE';
  readonly retry = 'backoff';
}

/** The runtime checks signatures, and the image has no good one. */
export class SignatureValidationFailed extends RuntimeError {
  readonly code = 'SIGNATURE_VALIDATION_FAILED';
  readonly retry = 'backoff';
}

export class InvalidImageName extends RuntimeError {
  readonly code = 'INVALID_IMAGE_NAME';
  readonly retry = 'never';
}

/** An earlier request for the same name has not ended in the runtime. */
export class NameReserved extends RuntimeError {
  readonly code = 'NAME_RESERVED';
  readonly retry = 'now';
}

/** The network plugins failed while the sandbox was made or stopped. */
export class CniFailed extends RuntimeError {
  readonly code = 'CNI_FAILED';
  readonly retry = 'backoff';
}

/** The container's first program could not be run. */
export class CommandNotRunnable extends RuntimeError {
  readonly code = 'COMMAND_NOT_RUNNABLE';
  readonly retry = 'backoff';
}

export class NoSpaceLeft extends RuntimeError {
  readonly code = 'NO_SPACE_LEFT';
  readonly retry = 'backoff';
}

/** The container is not, or no longer, in a state that allows the request. */
export class WrongState extends RuntimeError {
  readonly code = 'WRONG_STATE';
  readonly retry = 'backoff';
}

/** The pod's RuntimeClass names a handler that the runtime does not have. */
export class UnknownRuntimeHandler extends RuntimeError {
  readonly code = 'UNKNOWN_RUNTIME_HANDLER';
  readonly retry = 'backoff';
}

/** The runtime's socket does not answer. */
export class RuntimeUnreachable extends Unavailable {}

/** The runtime does not know this request. */
export class Unsupported extends AppError {
  readonly code = 'UNSUPPORTED';
  readonly retry = 'never';
}

type Construct = new (init: AppErrorInit & { readonly details: string }) => AppError;

interface Pattern {
  readonly text: RegExp;
  readonly becomes: Construct;
  readonly hint?: string;
}

/** containerd answers most failures with status UNKNOWN, so its text decides. First match counts; a text that fits none stays general. */
const patterns: readonly Pattern[] = [
  { text: /^server is not initialized yet$/, becomes: RuntimeUnreachable },
  // How CRI wants the two told; containerd says neither, CRI-O both.
  { text: /^RegistryUnavailable/, becomes: RegistryUnavailable },
  { text: /^SignatureValidationFailed/, becomes: SignatureValidationFailed },
  { text: /name ".*" is reserved for "/, becomes: NameReserved },
  {
    text: /no runtime for ".*" is configured/,
    becomes: UnknownRuntimeHandler,
    hint: 'the handler of the RuntimeClass is not in the configuration of the runtime',
  },
  { text: /container is in CONTAINER_\w+ state/, becomes: WrongState },
  { text: /no space left on device/, becomes: NoSpaceLeft, hint: 'free space on the file system that holds the data folder' },
  { text: /cni plugin not initialized/, becomes: CniFailed, hint: 'the network configuration folder has no valid configuration' },
  { text: /failed to (setup|destroy) network for sandbox/, becomes: CniFailed },
  {
    text: /exec: ".*": (stat .*: |executable file )?(no such file or directory|not found in \$PATH)/,
    becomes: CommandNotRunnable,
    hint: 'the image has no such program: check command and args',
  },
  { text: /exec: ".*": (stat .*: )?(permission denied|is a directory)/, becomes: CommandNotRunnable, hint: 'command is not a file that may be run' },
  { text: /exec ".*": exec format error|exec format error/, becomes: CommandNotRunnable, hint: 'the program is for another kind of machine' },
  {
    text: /failed to parse image reference|invalid reference format|failed to parse image name/,
    becomes: InvalidImageName,
    hint: 'check the image name',
  },
  {
    text: /pull access denied|insufficient_scope|authorization failed|401 Unauthorized|403 Forbidden/,
    becomes: ImageAccessDenied,
    hint: 'check the image name, and imagePullSecrets if it is private',
  },
  {
    text: /failed to resolve reference ".*": .*: not found|manifest unknown|failed to (resolve|get) image .*: not found/,
    becomes: ImageNotFound,
    hint: 'check the image name and tag, or load it with: kubernode image load FILE.tar',
  },
  {
    text: /failed to (do request|resolve reference).*(dial tcp|no such host|connection refused|i\/o timeout|TLS handshake|network is unreachable|x509)/,
    becomes: RegistryUnreachable,
    hint: 'the registry cannot be reached from this node; an image can be loaded with: kubernode image load FILE.tar',
  },
];

/** @param doing what was asked for, with the thing's name; it begins the message */
export function fromCri(failure: GrpcFailure, doing: string): AppError {
  const init = { message: `${doing}: ${failure.details}`, details: failure.details, cause: failure };
  switch (failure.status) {
    case grpcStatus.cancelled:
      return new Cancelled(init);
    case grpcStatus.deadlineExceeded:
      return new DeadlineExceeded(init);
    case grpcStatus.unimplemented:
      return new Unsupported(init);
    case grpcStatus.unavailable:
      return new RuntimeUnreachable({ ...init, hint: 'the container runtime does not answer; its log tells more' });
    default: {
      const pattern = patterns.find(({ text }) => text.test(failure.details));
      if (pattern !== undefined) return new pattern.becomes({ ...init, hint: pattern.hint });
      if (failure.status === grpcStatus.notFound) return new NotFound(init);
      if (failure.status === grpcStatus.failedPrecondition) return new WrongState(init);
      return new RuntimeFailed(init);
    }
  }
}

const goNames: Readonly<Record<number, string>> = {
  [grpcStatus.cancelled]: 'Canceled',
  [grpcStatus.invalidArgument]: 'InvalidArgument',
  [grpcStatus.deadlineExceeded]: 'DeadlineExceeded',
  [grpcStatus.notFound]: 'NotFound',
  [grpcStatus.alreadyExists]: 'AlreadyExists',
  [grpcStatus.permissionDenied]: 'PermissionDenied',
  [grpcStatus.resourceExhausted]: 'ResourceExhausted',
  [grpcStatus.failedPrecondition]: 'FailedPrecondition',
  [grpcStatus.aborted]: 'Aborted',
  [grpcStatus.unimplemented]: 'Unimplemented',
  [grpcStatus.internal]: 'Internal',
  [grpcStatus.unavailable]: 'Unavailable',
  [grpcStatus.unauthenticated]: 'Unauthenticated',
};

/** The runtime's answer as upstream's messages have it: with its status, unless that is UNKNOWN, which says nothing. */
export function withGrpcStatus(error: unknown): string {
  const failure = error instanceof Error ? error.cause : undefined;
  if (!(failure instanceof GrpcFailure)) return messageOf(error);
  const name = goNames[failure.status];
  return name === undefined ? failure.details : `rpc error: code = ${name} desc = ${failure.details}`;
}
