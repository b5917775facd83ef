import { changeItems, changePart, fill } from '#api/copy-on-write.ts';
import type { MatchResources, MutatingWebhook, Rule, ServiceReference, ValidatingWebhook } from '#api/types/admissionregistration-v1.ts';

/** What webhooks of both kinds have when they do not say. */
export function defaultWebhook<T extends ValidatingWebhook>(webhook: T): T {
  const filled = fill<ValidatingWebhook>(webhook, {
    clientConfig: {},
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  });
  const withPort = changePart(filled, 'clientConfig', (config) => changePart(config, 'service', defaultServiceReference));
  return changePart(withPort, 'rules', (rules) => changeItems(rules, defaultRule)) as T; // its own fields stay
}

export function defaultServiceReference<T extends Pick<ServiceReference, 'port'>>(service: T): T {
  return fill<Pick<ServiceReference, 'port'>>(service, { port: 443 }) as T; // likewise
}

/** What a policy matches when it does not say. */
export function defaultMatchResources(match: MatchResources): MatchResources {
  const filled = fill(match, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} });
  const withRules = changePart(filled, 'resourceRules', (rules) => changeItems(rules, defaultRule));
  return changePart(withRules, 'excludeResourceRules', (rules) => changeItems(rules, defaultRule));
}

function defaultRule<T extends Rule>(rule: T): T {
  return fill<Rule>(rule, { scope: '*' }) as T; // likewise
}

export function defaultMutatingWebhook(webhook: MutatingWebhook): MutatingWebhook {
  return defaultWebhook(fill(webhook, { reinvocationPolicy: 'Never' }));
}
