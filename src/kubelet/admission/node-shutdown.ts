import type { AdmissionInput, Refusal } from './admission-input.ts';

export function nodeShutdownPredicate({ node }: AdmissionInput): Refusal | undefined {
  return node.isShuttingDown ? { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' } : undefined;
}
