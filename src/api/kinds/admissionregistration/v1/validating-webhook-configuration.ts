import { changeItems, changePart } from '#api/copy-on-write.ts';
import { semanticEqual } from '#api/deep-equal.ts';
import { defineKind } from '#api/kind.ts';
import { webhookColumns } from '#api/registration/columns.ts';
import { defaultWebhook } from '#api/registration/defaults.ts';
import { validateWebhooks } from '#api/rules/registration/webhooks.ts';
import type { ValidatingWebhookConfiguration } from '#api/types/admissionregistration-v1.ts';

export const validatingWebhookConfiguration = defineKind<ValidatingWebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  scope: 'Cluster',
  message: 'admissionregistration.v1.ValidatingWebhookConfiguration',
  categories: ['api-extensions'],
  generation: (next, previous) => !semanticEqual(next.webhooks, previous.webhooks),
  allowsUnconditionalUpdate: false,
  columns: webhookColumns,
  setDefaults: (configuration) => changePart(configuration, 'webhooks', (webhooks) => changeItems(webhooks, defaultWebhook)),
  validate: ({ webhooks = [] }) => validateWebhooks(webhooks, 'webhooks'),
});
