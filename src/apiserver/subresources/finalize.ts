import { type FieldProblem, invalid as invalidValue } from '#api/field-problem.ts';
import type { KubeObject } from '#api/object.ts';
import { qualifiedNameProblems } from '#api/rules/names.ts';
import { invalid } from '#api/status.ts';
import type { Namespace } from '#api/types/core-v1.ts';
import type { KindRequest, ServerContext } from '../request/context.ts';
import { decodeBody } from '../request/decode.ts';
import { negotiate } from '../request/negotiate.ts';
import { writeOptionsOf } from '../request/query-options.ts';
import type { ApiResponse } from '../request/route.ts';
import { writerOf } from '../request/writer.ts';
import { answerEntry } from '../verbs/get.ts';
import { checkName } from '../verbs/place.ts';
import { updateObject } from '../verbs/update-object.ts';

/** PUT `namespaces/finalize`: replaces the finalizers of the spec; with the last one a namespace that is being deleted goes. */
export async function finalizeNamespace(context: ServerContext, request: KindRequest, signal: AbortSignal): Promise<ApiResponse> {
  const { kind, info } = request;
  const format = negotiate(request.headers, request.query);
  const options = writeOptionsOf(request.query, 'UpdateOptions');
  const writer = writerOf(request, options);
  const decoded = decodeBody(await request.body(signal), request.headers['content-type'] ?? '', kind, options, writer.warn);
  checkName(decoded, info.name);
  const { finalizers = [] } = (decoded as Namespace).spec ?? {}; // the schema has read it
  const problems = finalizers.flatMap((name, index) => problemsOf(name, `spec.finalizers[${index}]`));
  if (problems.length > 0) throw invalid(kind, info.name, problems);
  const change = (current: KubeObject) => withFinalizers(current as Namespace, decoded as Namespace); // the index and the schema say so
  // A namespace's own name stands in the URL as its scope; its key has none.
  const { name, subresource } = info;
  const entry = await updateObject(context, { kind, namespace: '', name, subresource, writer, change }, signal);
  return answerEntry(200, entry, request, format, context, writer.warnings);
}

function problemsOf(finalizer: string, field: string): readonly FieldProblem[] {
  const problems = qualifiedNameProblems(finalizer).map((text) => invalidValue(field, finalizer, text));
  if (problems.length > 0 || finalizer.includes('/') || finalizer === 'kubernetes') return problems;
  return [invalidValue(field, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')];
}

function withFinalizers(current: Namespace, { metadata, spec }: Namespace): Namespace {
  const { finalizers: _, ...kept } = current.spec ?? {};
  const finalizers = spec?.finalizers ?? [];
  return {
    ...current,
    metadata: { ...current.metadata, uid: metadata.uid ?? current.metadata.uid, resourceVersion: metadata.resourceVersion ?? '' },
    spec: finalizers.length === 0 ? kept : { ...kept, finalizers },
  };
}
