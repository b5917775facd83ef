import type { ReasonDoc } from '#startup/reason.ts';
import type { StartReason } from '../ports/pod-runtime.ts';

/** Why a container may not run, for people. Their events are told where they happen, with the container's name. */
export const startReasonDocs: Readonly<Record<StartReason, ReasonDoc>> = {
  CrashLoopBackOff: told(
    'the container ended again and again; the next start waits longer each time',
    'read its last words: kubectl logs --previous',
  ),
  ErrImagePull: told('the image could not be pulled', 'check the image name, tag and pull secrets, or load it with: kubernode image load FILE.tar'),
  ImagePullBackOff: told(
    'the image could not be pulled; the next try waits longer each time',
    'check the image name, tag and pull secrets, or load the image',
  ),
  ErrImageNeverPull: told('the image is not on the node, and the pull policy is Never', 'load it with: kubernode image load FILE.tar'),
  InvalidImageName: told('the name of the image cannot be understood', 'correct the image in the pod'),
  ImageInspectError: told('the container runtime could not say whether it has the image', "read the container runtime's log"),
  RegistryUnavailable: told('the registry of the image does not answer', 'check that the node reaches the registry'),
  SignatureValidationFailed: told('the container runtime found no good signature on the image', "sign the image, or correct the runtime's policy"),
  CreateContainerConfigError: told('something that the container is configured from is missing or wrong', 'create or correct what the message names'),
  CreateContainerError: told('the container runtime refused to create the container', 'the message is its own; check mounts and security context'),
  RunContainerError: told('the container was made, but its program could not be started', 'check command and args against the image'),
  PostStartHookError: told('the postStart hook of the container failed', 'check the hook; its container is started again'),
};

function told(meaning: string, mend: string): ReasonDoc {
  return { event: undefined, severity: 'Warning', meaning, mend };
}
