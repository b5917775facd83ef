import type { KubeObject } from '#api/object.ts';
import { schemaOf } from '#api/schema/message-schema.ts';
import type { ServerContext } from '../request/context.ts';
import { type BodyKind, decodeBody } from '../request/decode.ts';
import { answerObject } from '../request/encode.ts';
import { negotiate, reviewOffer } from '../request/negotiate.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { Route, RoutedRequest } from '../request/route.ts';

/** A question to the server in the form of an object that is answered and never stored. */
export interface Review {
  readonly group: 'authentication.k8s.io' | 'authorization.k8s.io';
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** @returns the status @throws a `StatusError` */
  answer(context: ServerContext, question: KubeObject, request: RoutedRequest): Promise<unknown> | unknown;
}

export function reviewRoute(review: Review, context: ServerContext): Route {
  const { group, kind, plural, scope } = review;
  const schema = schemaOf(`${group.replace('.k8s.io', '')}.v1.${kind}`);
  const bodyKind: BodyKind = { group, version: 'v1', kind, schema };
  return {
    name: plural,
    matches: (info) =>
      info.kind === 'resource' &&
      info.group === group &&
      info.version === 'v1' &&
      info.resource === plural &&
      info.verb === 'create' &&
      info.subresource === '',
    handle: async (request, signal) => {
      const format = negotiate(request.headers, request.query, reviewOffer);
      const options = writeOptionsOf(request.query, 'CreateOptions');
      const warnings: string[] = [];
      const question = decodeBody(await request.body(signal), request.headers['content-type'] ?? '', bodyKind, options, (text) =>
        warnings.push(text),
      );
      const status = await review.answer(context, question, request);
      return answerObject(201, { ...question, metadata: { ...question.metadata, creationTimestamp: null }, status }, format, warnings);
    },
    discovery: { group, version: 'v1', kind, plural, singular: kind.toLowerCase(), shortNames: [], scope, verbs: ['create'] },
  };
}
