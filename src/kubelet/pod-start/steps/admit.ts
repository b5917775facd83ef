import type { ReasonDoc } from '#startup/reason.ts';
import type { NodeRoomPort } from '../../ports/node-room.ts';
import type { AdmissionFact, PodFacts } from '../facts.ts';
import type { Step } from '../step.ts';

const reasons = {
  OutOfcpu: noRoom('OutOfcpu', 'CPU'),
  OutOfmemory: noRoom('OutOfmemory', 'memory'),
  'OutOfephemeral-storage': noRoom('OutOfephemeral-storage', 'local storage'),
  OutOfpods: refusal('OutOfpods', 'the node already runs as many pods as it may', 'delete pods, or start this one on another node'),
  OutOfExtendedResources: noRoom('OutOfExtendedResources', 'of an extended resource'),
  NodeAffinity: refusal(
    'NodeAffinity',
    "the node's labels are not those that the pod asks for",
    'change nodeSelector or affinity, or label the node',
  ),
  NodeName: refusal('NodeName', 'the pod belongs to another node', 'check spec.nodeName'),
  NodePorts: refusal('NodePorts', 'a pod on this node already has one of the host ports', 'choose another hostPort, or delete the other pod'),
  TaintToleration: refusal(
    'TaintToleration',
    'the node has a NoExecute taint that the pod does not tolerate',
    'add a toleration, or take the taint away',
  ),
  Evicted: refusal('Evicted', 'the node is short of memory, disk or process ids', 'free the resource that the message names'),
  SysctlForbidden: refusal(
    'SysctlForbidden',
    'the pod sets a kernel parameter that the node does not allow',
    'remove the sysctl, or allow it on the node',
  ),
  PodOSNotSupported: refusal('PodOSNotSupported', 'the pod is for another operating system', 'set spec.os.name to linux'),
  PodOSSelectorNodeLabelDoesNotMatch: refusal(
    'PodOSSelectorNodeLabelDoesNotMatch',
    'the pod is labelled for another operating system',
    'check the label kubernetes.io/os',
  ),
  SupplementalGroupsPolicyNotSupported: refusal(
    'SupplementalGroupsPolicyNotSupported',
    'the runtime cannot keep to supplementalGroupsPolicy Strict',
    'use a newer runtime',
  ),
  AppArmor: refusal('AppArmor', 'the kernel does not confine programs by AppArmor', 'remove the profile, or start the pod on another node'),
  InvalidNodeInfo: refusal('InvalidNodeInfo', 'the node does not know itself yet', "read the kubelet's log"),
  TopologyAffinityError: refusal(
    'TopologyAffinityError',
    'CPUs, memory and devices that belong together are not free together',
    'ask for less, or relax topologyManagerPolicy',
  ),
  SMTAlignmentError: refusal('SMTAlignmentError', 'the pod asks for a part of a physical core', 'ask for CPUs in whole cores'),
  NodeShutdown: refusal('NodeShutdown', 'the node is shutting down', 'start the pod on another node'),
  UnexpectedAdmissionError: refusal('UnexpectedAdmissionError', 'the node could not decide whether the pod fits', "read the kubelet's log"),
} as const satisfies Record<string, ReasonDoc>;

type Reason = keyof typeof reasons;

/** Once: whether the pod may run here at all. From then on it holds its room until it is gone. */
export const admit = (node: NodeRoomPort): Step<Pick<PodFacts, 'pod' | 'observed'>, AdmissionFact, Reason> => ({
  name: 'admit',
  title: 'Let the pod onto the node',
  reads: ['pod', 'observed'],
  writes: ['admission', 'pod'],
  slowAfterMs: 100,
  reasons,
  async run(_pod, { pod, observed }, signal) {
    const answer = await node.admit(pod, observed, signal);
    if (answer.admitted) return { kind: 'done', writes: { admission: 'admitted', pod: answer.pod } };
    if (isKnown(answer.reason)) return { kind: 'reject', reason: answer.reason, detail: answer.message };
    const reason = answer.reason.startsWith('OutOf') ? 'OutOfExtendedResources' : 'UnexpectedAdmissionError';
    return { kind: 'reject', reason, detail: answer.message, word: answer.reason };
  },
  find: async (pod) => (node.holds(pod.uid) ? { admission: 'admitted' } : {}),
  async undo(pod) {
    node.release(pod.uid);
  },
});

function isKnown(reason: string): reason is Reason {
  return Object.hasOwn(reasons, reason);
}

function noRoom(event: string, what: string): ReasonDoc {
  return refusal(event, `the pod asks for more ${what} than the node has left`, 'lower the requests, or delete pods of this node');
}

function refusal(event: string, meaning: string, mend: string): ReasonDoc {
  return { event, severity: 'Warning', meaning, mend };
}
