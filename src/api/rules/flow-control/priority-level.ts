import { type FieldProblem, forbidden, invalid, notSupported, required } from '#api/field-problem.ts';
import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  QueuingConfiguration,
} from '#api/types/flowcontrol-v1.ts';

const queuesMax = 10_000_000;
/** Of the hash by which a flow gets its hand of queues. */
const hashBits = 60;

export function validatePriorityLevel({ metadata, spec }: PriorityLevelConfiguration): readonly FieldProblem[] {
  const { type = '', limited, exempt } = spec ?? {};
  const problems: FieldProblem[] = [];
  if ((metadata.name === 'exempt') !== (type === 'Exempt')) {
    problems.push(invalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'"));
  }
  switch (type) {
    case 'Exempt':
      if (limited !== undefined) problems.push(forbidden('spec.limited', 'must be nil if the type is not Limited'));
      problems.push(...validateShares(exempt ?? {}, 'spec.exempt'));
      return problems;
    case 'Limited':
      if (exempt !== undefined) problems.push(forbidden('spec.exempt', 'must be nil if the type is Limited'));
      if (limited === undefined) problems.push(required('spec.limited', 'must not be empty when type is Limited'));
      else problems.push(...validateLimited(limited, 'spec.limited'));
      return problems;
    default:
      return [...problems, notSupported('spec.type', type, ['Exempt', 'Limited'])];
  }
}

function validateLimited(limited: LimitedPriorityLevelConfiguration, field: string): readonly FieldProblem[] {
  const { borrowingLimitPercent: percent = 0 } = limited;
  return [
    ...validateShares(limited, field),
    ...(percent < 0 ? [invalid(`${field}.borrowingLimitPercent`, percent, 'if specified, must be a non-negative integer')] : []),
    ...validateResponse(limited.limitResponse ?? { type: '' }, `${field}.limitResponse`),
  ];
}

interface Shares {
  readonly nominalConcurrencyShares?: number | undefined;
  readonly lendablePercent?: number | undefined;
}

function validateShares({ nominalConcurrencyShares: shares = 0, lendablePercent: percent = 0 }: Shares, field: string): readonly FieldProblem[] {
  return [
    ...(shares < 0 ? [invalid(`${field}.nominalConcurrencyShares`, shares, 'must be a non-negative integer')] : []),
    ...(percent < 0 || percent > 100 ? [invalid(`${field}.lendablePercent`, percent, 'must be between 0 and 100, inclusive')] : []),
  ];
}

function validateResponse({ type, queuing }: LimitResponse, field: string): readonly FieldProblem[] {
  const at = `${field}.queuing`;
  switch (type) {
    case 'Reject':
      return queuing === undefined ? [] : [forbidden(at, 'must be nil if limited.limitResponse.type is not Limited')];
    case 'Queue':
      if (queuing !== undefined) return validateQueuing(queuing, at);
      return [required(at, 'must not be empty if limited.limitResponse.type is Limited')];
    default:
      return [notSupported(`${field}.type`, type, ['Queue', 'Reject'])];
  }
}

function validateQueuing({ queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration, field: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const hand = `${field}.handSize`;
  if (queueLengthLimit <= 0) problems.push(invalid(`${field}.queueLengthLimit`, queueLengthLimit, 'must be positive'));
  if (queues <= 0) problems.push(invalid(`${field}.queues`, queues, 'must be positive'));
  else if (queues > queuesMax) problems.push(invalid(`${field}.queues`, queues, `must not be greater than ${queuesMax}`));
  if (handSize <= 0) problems.push(invalid(hand, handSize, 'must be positive'));
  else if (handSize > queues) problems.push(invalid(hand, handSize, `should not be greater than queues (${queues})`));
  else if (requiredBits(queues, handSize) > hashBits) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${hashBits}`;
    problems.push(invalid(hand, handSize, detail));
  }
  return problems;
}

/** How many bits tell one hand from all others. */
function requiredBits(queues: number, handSize: number): number {
  let bits = 0;
  for (let dealt = 0; dealt < handSize && bits <= hashBits; dealt++) bits += Math.log2(queues - dealt);
  return Math.ceil(bits);
}
