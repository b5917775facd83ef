import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '#api/field-problem.ts';
import type { Kind } from '#api/kind.ts';
import { mutatingAdmissionPolicy } from '#api/kinds/admissionregistration/v1/mutating-admission-policy.ts';
import { mutatingWebhookConfiguration } from '#api/kinds/admissionregistration/v1/mutating-webhook-configuration.ts';
import { validatingAdmissionPolicy } from '#api/kinds/admissionregistration/v1/validating-admission-policy.ts';
import { validatingAdmissionPolicyBinding } from '#api/kinds/admissionregistration/v1/validating-admission-policy-binding.ts';
import { validatingWebhookConfiguration } from '#api/kinds/admissionregistration/v1/validating-webhook-configuration.ts';
import type { KubeObject } from '#api/object.ts';

const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2030-01-01T00:00:00Z' };
function made<T extends KubeObject>(kind: Kind<T>, parts: object): T {
  return kind.setDefaults({ apiVersion: 'v1', kind: kind.kind, metadata, ...parts } as unknown as T); // the parts are those of a T
}
function problemsOf<T extends KubeObject>(kind: Kind<T>, parts: object): readonly string[] {
  return kind.validate(made(kind, parts)).map(problemText);
}

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const webhook = {
  name: 'a.example.com',
  clientConfig: { service: { namespace: 'n', name: 's' } },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const ofWebhook = (changes: object) => problemsOf(validatingWebhookConfiguration, { webhooks: [{ ...webhook, ...changes }] });

test('webhooks have upstream’s defaults, and a list that changes counts as a generation', () => {
  const [filled] = made(mutatingWebhookConfiguration, { webhooks: [webhook] }).webhooks ?? [];
  assert.deepEqual(filled, {
    ...webhook,
    clientConfig: { service: { namespace: 'n', name: 's', port: 443 } },
    rules: [{ ...rule, scope: '*' }],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
    reinvocationPolicy: 'Never',
  });
  const first = validatingWebhookConfiguration.prepareCreate(made(validatingWebhookConfiguration, { webhooks: [webhook] }));
  const same = validatingWebhookConfiguration.prepareUpdate({ ...first, metadata: { ...first.metadata, labels: { a: 'b' } } }, first);
  const other = validatingWebhookConfiguration.prepareUpdate({ ...first, webhooks: [] }, first);
  assert.deepEqual(
    [first, same, other].map(({ metadata: { generation } }) => generation),
    [1, 1, 2],
  );
});

test('a webhook has a full name, a place, no side effects, a version that we speak and a short time', () => {
  assert.deepEqual(ofWebhook({}), []);
  assert.deepEqual(ofWebhook({ name: 'a.b', timeoutSeconds: 31, sideEffects: 'Some', admissionReviewVersions: ['v2', 'v2'], failurePolicy: 'Odd' }), [
    'webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
    'webhooks[0].failurePolicy: Unsupported value: "Odd": supported values: "Fail", "Ignore"',
    'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
    'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
    'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
    'webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
  ]);
  assert.deepEqual(ofWebhook({ sideEffects: undefined, admissionReviewVersions: [], clientConfig: {} }), [
    'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
    'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
  ]);
  assert.deepEqual(problemsOf(validatingWebhookConfiguration, { webhooks: [webhook, webhook] }), [
    'webhooks[1].name: Duplicate value: "a.example.com"',
  ]);
});

test('a webhook is reached by https alone', () => {
  const ofUrl = (url: string) => ofWebhook({ clientConfig: { url } });
  assert.deepEqual(ofUrl('https://example.com/path'), []);
  assert.deepEqual(ofUrl('http://me@example.com/?q#f'), [
    `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
    'webhooks[0].clientConfig.url: Invalid value: "me": user information is not permitted in the URL',
    'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
    'webhooks[0].clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL',
  ]);
  assert.deepEqual(ofWebhook({ clientConfig: { service: { namespace: '', name: '', path: 'a//b', port: 0 } } }), [
    'webhooks[0].clientConfig.service.name: Required value: service name is required',
    'webhooks[0].clientConfig.service.namespace: Required value: service namespace is required',
    'webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
    `webhooks[0].clientConfig.service.path: Invalid value: "a//b": must start with a '/'`,
    'webhooks[0].clientConfig.service.path: Invalid value: "a//b": segment[0] may not be empty',
    'webhooks[0].clientConfig.service.path: Invalid value: "a//b": segment[1] may not be empty',
  ]);
});

test('rules do not say the same twice with a wildcard', () => {
  const ofRule = (changes: object) => ofWebhook({ rules: [{ ...rule, ...changes }] });
  assert.deepEqual(
    ofRule({ operations: ['*', 'CREATE'], apiGroups: [], apiVersions: ['*', 'v1'], scope: 'Odd', resources: ['pods/*', 'pods/log', '*', 'nodes'] }),
    [
      `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
      'webhooks[0].rules[0].apiGroups: Required value',
      `webhooks[0].rules[0].apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
      `webhooks[0].rules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
      `webhooks[0].rules[0].resources: Invalid value: ["pods/*","pods/log","*","nodes"]: if '*' is present, must not specify other resources without subresources`,
      'webhooks[0].rules[0].scope: Unsupported value: "Odd": supported values: "*", "Cluster", "Namespaced"',
    ],
  );
  assert.deepEqual(ofRule({ resources: ['*/*', 'pods'] }), [
    `webhooks[0].rules[0].resources: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources`,
  ]);
  assert.deepEqual(
    ofWebhook({
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: ' ' },
        { name: '', expression: 'true' },
      ],
    }),
    [
      'webhooks[0].matchConditions[1].expression: Required value',
      'webhooks[0].matchConditions[2].name: Required value',
      'webhooks[0].matchConditions[1].name: Duplicate value: "a"',
    ],
  );
});

const policy = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] };
const ofPolicy = (changes: object) => problemsOf(validatingAdmissionPolicy, { spec: { ...policy, ...changes } });

test('a policy says what it is about and what it checks', () => {
  assert.deepEqual(ofPolicy({}), []);
  assert.deepEqual(ofPolicy({ matchConstraints: undefined, validations: [], paramKind: { apiVersion: 'a/b/c', kind: 'Köder' } }), [
    'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    `spec.paramKind.kind: Invalid value: "Köder": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
    'spec.matchConstraints: Required value',
    'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
    'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
  ]);
  assert.deepEqual(
    ofPolicy({
      matchConstraints: {},
      variables: [{ name: 'while', expression: '' }],
      validations: [{ expression: '', message: 'a\nb', messageExpression: ' ', reason: 'Odd' }],
      auditAnnotations: [{ key: 'k', valueExpression: '' }],
    }),
    [
      'spec.matchConstraints.resourceRules: Required value',
      'spec.variables[0].name: Invalid value: "while": name is not a valid CEL identifier',
      'spec.variables[0].expression: Required value: expression is not specified',
      'spec.validations[0].expression: Required value: expression is not specified',
      'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
      'spec.validations[0].message: Invalid value: "a\\nb": message must not contain line breaks',
      'spec.validations[0].reason: Unsupported value: "Odd": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      'spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified',
    ],
  );
});

test('a binding says which policy, and what comes of a breach', () => {
  const ofBinding = (spec: object) => problemsOf(validatingAdmissionPolicyBinding, { spec });
  assert.deepEqual(ofBinding({ policyName: 'p', validationActions: ['Deny'] }), []);
  assert.deepEqual(ofBinding({ policyName: '', paramRef: { name: 'x', selector: {} }, validationActions: ['Deny', 'Warn', 'Warn', 'Odd'] }), [
    'spec.policyName: Required value',
    'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
    'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
    'spec.paramRef.parameterNotFoundAction: Required value',
    'spec.validationActions[3]: Unsupported value: "Odd": supported values: "Audit", "Deny", "Warn"',
    'spec.validationActions[2]: Duplicate value: "Warn"',
    'spec.validationActions: Invalid value: ["Deny","Warn","Warn","Odd"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
  ]);
});

test('a policy that changes objects is about those that are written', () => {
  const spec = {
    ...policy,
    validations: undefined,
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }],
  };
  assert.deepEqual(problemsOf(mutatingAdmissionPolicy, { spec }), []);
  const changed = { ...spec, matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] }, reinvocationPolicy: undefined };
  assert.deepEqual(problemsOf(mutatingAdmissionPolicy, { spec: { ...changed, mutations: [{ patchType: 'ApplyConfiguration' }] } }), [
    'spec.matchConstraints.resourceRules[0].operations[0]: Unsupported value: "DELETE": supported values: "CREATE", "UPDATE"',
    'spec.mutations[0].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration',
    'spec.reinvocationPolicy: Required value',
  ]);
});

test('conditions of a policy are of the common shape', () => {
  const status = { conditions: [{ type: 'A', status: 'Odd', reason: '9', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' }] };
  const next = made(validatingAdmissionPolicy, { spec: policy, status });
  const [first, second, ...rest] = validatingAdmissionPolicy.validateStatusUpdate(next, next).map(problemText);
  assert.equal(first, 'status.conditions[0].status: Unsupported value: "Odd": supported values: "False", "True", "Unknown"');
  assert.match(second ?? '', /^status\.conditions\[0\]\.reason: Invalid value: "9": a condition reason must start with alphabetic character, /);
  assert.deepEqual(rest, []);
});

test('what a binding is given is shown by name or by selector', () => {
  const column = validatingAdmissionPolicyBinding.columns.find(({ name }) => name === 'ParamRef');
  const shown = (paramRef: object | undefined) => column?.cell(made(validatingAdmissionPolicyBinding, { spec: { policyName: 'p', paramRef } }), 0);
  assert.deepEqual([undefined, { name: 'x' }, { name: 'x', namespace: 'n' }].map(shown), ['<unset>', '*/x', 'n/x']);
  assert.equal(
    shown({ selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'k', operator: 'In', values: ['v', 'w'] }] } }),
    '&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[v w],},},}',
  );
});
