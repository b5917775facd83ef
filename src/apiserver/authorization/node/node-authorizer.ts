import type { Kind } from '#api/kind.ts';
import type { KubeObject } from '#api/object.ts';
import { quote } from '#api/quote.ts';
import type { Registry } from '../../registry/registry.ts';
import { type Authorizer, allow, type Decision, noOpinion, noOpinionBecause, type ResourceAccess, ruleAllows } from '../authorizer.ts';
import { NodeGraph, type Reached } from './node-graph.ts';
import { nodeNameOf } from './node-identity.ts';
import { commonNodeRules } from './node-rules.ts';

const leaseNamespace = 'kube-node-lease';

/** Nodes may do what their own pods need; about everybody else it has no opinion. */
export function createNodeAuthorizer(registry: Registry, kinds: readonly Kind[]): Authorizer {
  const rules = new NodeRules(registry, kinds);
  return {
    decide: (user, access) => {
      const node = nodeNameOf(user);
      if (node === undefined) return noOpinion;
      if (node === '') return noOpinionBecause(`unknown node for user ${quote(user.name)}`);
      if (access.kind === 'resource') {
        const decision = rules.decide(node, access);
        if (decision !== undefined) return decision;
      }
      return commonNodeRules.some((rule) => ruleAllows(rule, access)) ? allow('') : noOpinion;
    },
    // What the graph allows cannot be said in rules.
    rulesOf: (user) => {
      const isNode = (nodeNameOf(user) ?? '') !== '';
      return { rules: isNode ? commonNodeRules : [], isComplete: !isNode, problems: [] };
    },
  };
}

class NodeRules {
  readonly #graph: NodeGraph;
  readonly #registry: Registry;
  readonly #kinds: readonly Kind[];

  constructor(registry: Registry, kinds: readonly Kind[]) {
    this.#registry = registry;
    this.#kinds = kinds;
    this.#graph = new NodeGraph(registry, kinds);
  }

  /** @returns undefined for what is not decided object by object */
  decide(node: string, access: ResourceAccess): Decision | undefined {
    switch (access.group === '' ? access.resource : `${access.resource}.${access.group}`) {
      case 'secrets':
        return this.#read(node, 'secrets', access);
      case 'configmaps':
        return this.#read(node, 'configmaps', access);
      case 'persistentvolumeclaims':
        return this.#claim(node, access);
      case 'persistentvolumes':
        return getOnly(access) ?? related(node, access, this.#graph.hasVolume(node, access.name));
      case 'resourceclaims.resource.k8s.io':
        return getOnly(access) ?? this.#reached(node, 'resourceclaims', access);
      case 'volumeattachments.storage.k8s.io':
        return getOnly(access) ?? related(node, access, this.#isPlacedOn(node, access));
      case 'serviceaccounts':
        return this.#account(node, access);
      case 'leases.coordination.k8s.io':
        return lease(node, access);
      case 'csinodes.storage.k8s.io':
        return csiNode(node, access);
      case 'resourceslices.resource.k8s.io':
        return this.#resourceSlice(node, access);
      case 'nodes':
        return nodeObject(node, access);
      case 'pods':
        return this.#pod(node, access);
      default:
        return undefined;
    }
  }

  #read(node: string, resource: 'secrets' | 'configmaps', access: ResourceAccess): Decision {
    if (!['get', 'list', 'watch'].includes(access.verb)) return noOpinionBecause('can only read resources of this type');
    if (access.subresource !== '') return noOpinionBecause('cannot read subresource');
    if (access.namespace === '') return noOpinionBecause('can only read namespaced object of this type');
    return this.#reached(node, resource, access);
  }

  #reached(node: string, resource: Reached, access: ResourceAccess): Decision {
    return related(node, access, this.#graph.reaches(node, resource, access.namespace, access.name));
  }

  #claim(node: string, access: ResourceAccess): Decision {
    const resource = 'persistentvolumeclaims';
    if (access.subresource !== 'status') return getOnly(access) ?? this.#reached(node, resource, access);
    const isWrite = access.verb === 'update' || access.verb === 'patch';
    return isWrite ? this.#reached(node, resource, access) : noOpinionBecause('can only get/update/patch this type');
  }

  #account(node: string, access: ResourceAccess): Decision {
    if (access.verb === 'get' && access.subresource === '') return this.#reached(node, 'serviceaccounts', access);
    if (access.verb !== 'create' || access.name === '') return noOpinionBecause('can only create tokens for individual service accounts');
    if (access.subresource !== 'token') return noOpinionBecause('can only create token subresource of serviceaccount');
    return this.#reached(node, 'serviceaccounts', access);
  }

  #resourceSlice(node: string, access: ResourceAccess): Decision {
    if (access.subresource !== '') return noOpinionBecause('cannot authorize ResourceSlice subresources');
    switch (access.verb) {
      case 'create': // which node it is for is seen at admission
        return allow('');
      case 'get':
      case 'update':
      case 'patch':
      case 'delete':
        return related(node, access, this.#isPlacedOn(node, access));
      case 'list':
      case 'watch':
      case 'deletecollection':
        return selects(access, node)
          ? allow('')
          : noOpinionBecause('can only list/watch/deletecollection resourceslices with nodeName field selector');
      default:
        return noOpinionBecause(
          'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
        );
    }
  }

  #pod(node: string, access: ResourceAccess): Decision {
    const isRelated = this.#graph.hasPod(node, access.namespace, access.name);
    switch (`${access.verb} ${access.subresource}`) {
      case 'get ':
        return related(node, access, isRelated);
      case 'list ':
      case 'watch ':
        if (selects(access, node)) return allow('');
        if (access.name !== '') return related(node, access, isRelated);
        return noOpinionBecause('can only list/watch pods with spec.nodeName field selector');
      case 'create ':
      case 'delete ':
      case 'update status':
      case 'patch status':
      case 'create eviction': // which pods is seen at admission
        return allow('');
      default:
        return noOpinion;
    }
  }

  /** Whether the object says itself that it is for the node. */
  #isPlacedOn(node: string, { group, resource, name }: ResourceAccess): boolean {
    const kind = this.#kinds.find((one) => one.group === group && one.plural === resource);
    const object: (KubeObject & { readonly spec?: { readonly nodeName?: unknown } }) | undefined =
      kind === undefined ? undefined : this.#registry.index(kind).get(name)?.object();
    return object?.spec?.nodeName === node;
  }
}

function getOnly(access: ResourceAccess): Decision | undefined {
  if (access.verb !== 'get') return noOpinionBecause('can only get individual resources of this type');
  return access.subresource === '' ? undefined : noOpinionBecause('cannot get subresource');
}

function related(node: string, { name }: ResourceAccess, isRelated: boolean): Decision {
  if (name === '') return noOpinionBecause('No Object name found');
  return isRelated ? allow('') : noOpinionBecause(`no relationship found between node '${node}' and this object`);
}

/** Whether a collection is asked for what is on the node alone. */
function selects({ fields = [] }: ResourceAccess, node: string): boolean {
  return fields.some(({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node);
}

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete'];

/** The name of a new one is seen at admission. */
function lease(node: string, { verb, namespace, name }: ResourceAccess): Decision {
  if (!ownVerbs.includes(verb)) return noOpinionBecause('can only get, create, update, patch, or delete a node lease');
  if (namespace !== leaseNamespace) return noOpinionBecause(`can only access leases in the ${quote(leaseNamespace)} system namespace`);
  if (verb === 'create' || name === node) return allow('');
  return noOpinionBecause('can only access node lease with the same name as the requesting node');
}

function csiNode(node: string, { verb, subresource, name }: ResourceAccess): Decision {
  if (!ownVerbs.includes(verb)) return noOpinionBecause('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return noOpinionBecause('cannot authorize CSINode subresources');
  if (verb === 'create' || name === node) return allow('');
  return noOpinionBecause('can only access CSINode with the same name as the requesting node');
}

/** Which one is written is seen at admission; reads are compared by name, so that a kubelet can look for its node before it is there. */
function nodeObject(node: string, { verb, subresource, name }: ResourceAccess): Decision {
  switch (`${verb} ${subresource}`) {
    case 'create ':
    case 'update ':
    case 'patch ':
    case 'update status':
    case 'patch status':
      return allow('');
    case 'get ':
    case 'list ':
    case 'watch ':
      if (name === node) return allow('');
      return noOpinionBecause(
        name === ''
          ? `node '${node}' cannot read all nodes, only its own Node object`
          : `node '${node}' cannot read '${name}', only its own Node object`,
      );
    default:
      return noOpinion;
  }
}
