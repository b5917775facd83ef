import { type FieldProblem, forbidden, invalid, required } from '#api/field-problem.ts';
import type { CustomResourceConversion } from '#api/types/apiextensions-v1.ts';
import { validateChoice } from '../checks.ts';
import { dns1035LabelProblems } from '../names.ts';
import { validateClientConfig } from '../registration/client-config.ts';

const strategies = ['None', 'Webhook'];
const reviewVersions = ['v1', 'v1beta1'];

/** How objects get from one version to another. Upstream names the parts of a webhook as its internal form has them. */
export function validateConversion(conversion: CustomResourceConversion | undefined, field: string): readonly FieldProblem[] {
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  const [config, versions] = [`${field}.webhookClientConfig`, `${field}.conversionReviewVersions`];
  const problems = validateChoice(strategy, strategies, `${field}.strategy`);
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    return [
      ...problems,
      ...(webhook?.clientConfig === undefined ? [] : [forbidden(config, detail)]),
      ...((webhook?.conversionReviewVersions ?? []).length === 0 ? [] : [forbidden(versions, detail)]),
    ];
  }
  return [
    ...problems,
    ...(webhook?.clientConfig === undefined
      ? [required(config, 'required when strategy is set to Webhook')]
      : validateClientConfig(webhook.clientConfig, config)),
    ...validateReviewVersions(webhook?.conversionReviewVersions ?? [], versions),
  ];
}

function validateReviewVersions(versions: readonly string[], field: string): readonly FieldProblem[] {
  if (versions.length === 0) return [required(field)];
  const problems = versions.flatMap((version, index) => {
    if (versions.indexOf(version) < index) return [invalid(`${field}[${index}]`, version, 'duplicate version')];
    return dns1035LabelProblems(version).map((text) => invalid(`${field}[${index}]`, version, text));
  });
  if (versions.some((version) => reviewVersions.includes(version))) return problems;
  const detail = `none of the versions accepted by this server. accepted version(s) are ${reviewVersions.join(', ')}`;
  return [...problems, invalid(field, versions, detail)];
}
