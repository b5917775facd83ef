import { changeItems, changePart } from '#api/copy-on-write.ts';
import { semanticEqual } from '#api/deep-equal.ts';
import { defineKind } from '#api/kind.ts';
import { webhookColumns } from '#api/registration/columns.ts';
import { defaultMutatingWebhook } from '#api/registration/defaults.ts';
import { validateWebhooks } from '#api/rules/registration/webhooks.ts';
import type { MutatingWebhookConfiguration } from '#api/types/admissionregistration-v1.ts';

export const mutatingWebhookConfiguration = defineKind<MutatingWebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  scope: 'Cluster',
  message: 'admissionregistration.v1.MutatingWebhookConfiguration',
  categories: ['api-extensions'],
  generation: (next, previous) => !semanticEqual(next.webhooks, previous.webhooks),
  allowsUnconditionalUpdate: false,
  columns: webhookColumns,
  setDefaults: (configuration) => changePart(configuration, 'webhooks', (webhooks) => changeItems(webhooks, defaultMutatingWebhook)),
  validate: ({ webhooks = [] }) => validateWebhooks(webhooks, 'webhooks'),
});
