import type { KindHandler } from '../request/context.ts';
import type { Verb } from '../request/request-info.ts';
import { get } from '../verbs/get.ts';
import { patch } from '../verbs/patch.ts';
import { update } from '../verbs/update.ts';
import { bindPod } from './binding.ts';
import { evictPod } from './eviction.ts';
import { finalizeNamespace } from './finalize.ts';
import { requestToken } from './token.ts';

/** Subresources with a behaviour of their own, by `resource/subresource`. Those that stream are routes. */
export const subresourceHandlers: Readonly<Record<string, Readonly<Partial<Record<Verb, KindHandler>>>>> = {
  'pods/binding': { create: bindPod },
  'pods/eviction': { create: evictPod },
  'serviceaccounts/token': { create: requestToken },
  'namespaces/finalize': { update: finalizeNamespace },
  'certificatesigningrequests/approval': { get, update, patch },
};
