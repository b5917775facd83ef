import { pod } from '#api/kinds/core/v1/pod.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { decodeBody } from '../request/decode.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { bindPod } from '../subresources/binding.ts';

/** POST `bindings`: the older way to say `pods/binding`, in which the body alone names the pod. */
export async function createBinding(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info, headers } = request;
  const body = await request.body(signal);
  // What is wrong with the body is said when it is read for good.
  const { metadata } = decodeBody(body, headers['content-type'] ?? '', kind, writeOptionsOf(request.query, 'CreateOptions'), () => undefined);
  const ofPod = { ...info, resource: pod.plural, subresource: 'binding', name: metadata?.name ?? '' };
  return bindPod(context, { ...request, kind: pod, info: ofPod, body: async () => body }, signal);
}
