import { createHash } from 'node:crypto';
import { apiVersionOf } from '#api/kind.ts';
import { messageOfKind } from '#api/schema/message-of-kind.ts';
import { schemaOf } from '#api/schema/message-schema.ts';
import { loadDescriptions } from '#api/schema/openapi/descriptions.ts';
import { openApiV2, openApiV3 } from '#api/schema/openapi/documents.ts';
import type { DescribedKind } from '#api/schema/openapi/operations.ts';
import { encodeOpenApiV2 } from '#api/schema/openapi/protobuf-v2.ts';
import type { RouteResource } from '../request/route.ts';

export interface Document {
  readonly bytes: Uint8Array;
  /** Upper-case hex, changes with the content. */
  readonly hash: string;
}

/** What OpenAPI can answer for a set of kinds. The documents are large: each is made when it is first asked for. */
export class OpenApiDocuments {
  readonly #kinds: readonly DescribedKind[];
  readonly #version: string;
  readonly #made = new Map<string, Promise<Document>>();

  /** @param version of the server, such as `v1.36.0` */
  constructor(kinds: readonly DescribedKind[], version: string) {
    this.#kinds = kinds;
    this.#version = version;
  }

  v2(form: 'json' | 'protobuf'): Promise<Document> {
    return this.#once(`v2 ${form}`, async () => {
      const document = openApiV2(this.#kinds, this.#version, await loadDescriptions());
      return form === 'protobuf' ? encodeOpenApiV2(document) : Buffer.from(JSON.stringify(document));
    });
  }

  /** `api/v1`, `apis/apps/v1`: each has a document of its own. */
  v3Paths(): readonly string[] {
    return [...new Set(this.#kinds.map(pathOf))].sort();
  }

  /** @param path one of `v3Paths` */
  v3(path: string): Promise<Document> {
    const own = this.#kinds.find((kind) => pathOf(kind) === path);
    if (own === undefined) throw new Error(`${path} has no document`);
    return this.#once(`v3 ${path}`, async () =>
      Buffer.from(JSON.stringify(openApiV3(this.#kinds, own.group, own.version, this.#version, await loadDescriptions()))),
    );
  }

  #once(name: string, make: () => Promise<Uint8Array>): Promise<Document> {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const made = make().then((bytes) => ({ bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() }));
    this.#made.set(name, made);
    return made;
  }
}

/** What stands behind no kind is described too, when its message is known: reviews. */
export function describedRoute(resource: RouteResource): readonly DescribedKind[] {
  const message = messageOfKind(apiVersionOf(resource), resource.kind);
  return message === undefined ? [] : [{ ...resource, subresources: [], answersDeleteWithObject: false, schema: schemaOf(message) }];
}

function pathOf({ group, version }: DescribedKind): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}
