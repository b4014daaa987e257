import { type CofferError, invalid, ownWords } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { parseIdentifier } from '../../tags/names.ts';
import type { NamedTag, TagReference } from '../../tags/organization.ts';
import { declare, IN_PARTS, type Schema, type Spec } from '../declaration/params.ts';
import { type IdentifiedKind, RESOURCE_KINDS } from '../declaration/resource-kinds.ts';

/** Parameters for lists of resource identifiers: in documents typed objects, on the command line plain texts. */

/**
 * Maximum number of items per call. All of them are one transaction, and every other writer waits until it is written.
 * @see docs/decisions/0112
 */
export const MOST_LINKED = 1000;

const nameSchema = {
  attributes: { type: 'object', properties: { name: { type: 'string' } } },
} as const satisfies Readonly<Record<string, Schema>>;

const identifierSchema = (
  type: string,
  required: readonly string[],
  more: Readonly<Record<string, Schema>>,
): Schema => ({
  type: 'object',
  properties: { type: { type: 'string', enum: [type] }, id: { type: 'string' }, ...more },
  required,
});

const listOf = <T, S extends Spec<readonly T[]>>(
  spec: S,
  items: Schema,
  parse: (value: unknown) => readonly T[],
) => declare<readonly T[], S>(spec, { type: 'array', maxItems: MOST_LINKED, items }, parse, true);

type DocumentSpec = Pick<Spec<never>, 'help' | 'cli'>;

/** `data` of a relationship document: identifiers of existing resources, unique and in order. */
export function identifiers(kind: IdentifiedKind, spec: DocumentSpec) {
  const { type } = RESOURCE_KINDS[kind].identifier;
  const parse = (value: unknown): readonly string[] => {
    const ids = itemsOf(value, '/data').map((item, index) => {
      if (typeof item === 'string') return item;
      return idOf(resourceOf(item, type, `/data/${index}`), `/data/${index}`);
    });
    return [...new Set(ids)];
  };
  return {
    ...listOf({ ...spec, required: true }, identifierSchema(type, ['type', 'id'], {}), parse),
    document: 'data',
    print: (ids: readonly string[]) => ids.map((id) => ({ type, id })),
  } as const;
}

/** Workspaces to which a tag is added, or from which it is removed. */
export const workspaceIdentifiers = identifiers('workspace', {
  help: 'IDs of the workspaces.',
  cli: { flag: 'workspace', metavar: 'WS', refersTo: 'workspace', help: 'Workspaces, by name or ID.' },
});

/** `data` of a relationship document whose tags are given by identifier or name. */
export const tagReferences = (spec: DocumentSpec) =>
  ({ ...references({ ...spec, required: true }, '/data'), document: 'data' }) as const;

/** Tags in the relationships of a workspace's document. */
export const tagsRelationship = (spec: DocumentSpec) =>
  ({ ...references(spec, '/data/relationships/tags/data'), document: 'relationships' }) as const;

/** Project in the relationships of a workspace's document: its identifier; null for none. */
export function projectRelationship(spec: DocumentSpec) {
  const at = '/data/relationships/project/data';
  const { type } = RESOURCE_KINDS.project.identifier;
  const declared = declare<string | null, DocumentSpec>(
    spec,
    identifierSchema(type, ['type', 'id'], {}),
    (value) => {
      if (value === null || typeof value === 'string') return value;
      return idOf(resourceOf(value, type, at), at);
    },
  );
  const print = (id: string | null) => (id === null ? null : { type, id });
  return { ...declared, document: 'relationships', print } as const;
}

/** `data` of a document that creates tags: only names, of one resource or several. */
export function tagNames(spec: DocumentSpec) {
  const items = identifierSchema('tags', ['type', 'attributes'], nameSchema);
  const parse = (value: unknown): readonly NamedTag[] => {
    if (isObject(value)) return [namedTag(value, '/data')];
    return itemsOf(value, '/data').map((item, index) => namedTag(item, `/data/${index}`));
  };
  return {
    ...listOf({ ...spec, required: true }, items, parse),
    document: 'data',
    print: (tags: readonly NamedTag[]) => tags.map(printNamed),
  } as const;
}

function namedTag(item: unknown, at: string): NamedTag {
  const field = `${at}/attributes/name`;
  if (isReference(item) && 'name' in item) return { name: item.name, field };
  const name = typeof item === 'string' ? item : nameOf(resourceOf(item, 'tags', at), at);
  if (name === undefined) throw malformed(ownWords('missing name'), field);
  return { name, field };
}

/** Whether it is the input of a program, `{ id }` or `{ name }`, which has no resource type. */
const isReference = (item: unknown): item is TagReference =>
  isObject(item) &&
  !Object.hasOwn(item, 'type') &&
  (typeof item['id'] === 'string' || typeof item['name'] === 'string');

const printNamed = ({ name }: NamedTag) => ({ type: 'tags', attributes: { name } });

function references<S extends Spec<readonly TagReference[]>>(spec: S, pointer: string) {
  const parse = (value: unknown): readonly TagReference[] =>
    itemsOf(value, pointer).map((item, index) => referenceOf(item, `${pointer}/${index}`));
  return {
    ...listOf(spec, identifierSchema('tags', ['type'], nameSchema), parse),
    print: (tags: readonly TagReference[]) =>
      tags.map((tag) => ('id' in tag ? { type: 'tags', id: tag.id } : printNamed(tag))),
  };
}

/**
 * Parses a reference. An identifier takes precedence over a name; plain text is an identifier if it has the form of
 * one.
 */
function referenceOf(item: unknown, at: string): TagReference {
  const field = `${at}/attributes/name`;
  if (typeof item === 'string') {
    return parseIdentifier('tag', item) === undefined ? { name: item, field } : { id: item };
  }
  if (isReference(item)) return 'id' in item ? { id: item.id } : { name: item.name, field };
  const resource = resourceOf(item, 'tags', at);
  if (resource['id'] !== undefined && resource['id'] !== null && resource['id'] !== '') {
    return { id: idOf(resource, at) };
  }
  const name = nameOf(resource, at);
  if (name === undefined) throw malformed(ownWords('a tag needs an id or a name'), at);
  return { name, field };
}

export function itemsOf(value: unknown, pointer: string): readonly unknown[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return withinBound(value, pointer);
  throw malformed(ownWords('must be an array of resource identifiers'), pointer);
}

function withinBound(items: readonly unknown[], pointer: string): readonly unknown[] {
  if (items.length <= MOST_LINKED) return items;
  throw invalid(`must have at most ${MOST_LINKED} items, not ${items.length}`, {
    field: pointer,
    hint: IN_PARTS,
  });
}

export function resourceOf(item: unknown, type: string, at: string): Readonly<Record<string, unknown>> {
  if (!isObject(item)) throw malformed(ownWords('must be a resource identifier'), at);
  if (item['type'] !== type) throw malformed(`type must be "${type}"`, `${at}/type`);
  return item;
}

function idOf(resource: Readonly<Record<string, unknown>>, at: string): string {
  const { id } = resource;
  if (typeof id !== 'string' || id === '') throw malformed(ownWords('id must be a string'), `${at}/id`);
  return id;
}

function nameOf(resource: Readonly<Record<string, unknown>>, at: string): string | undefined {
  const attributes = resource['attributes'];
  const name = isObject(attributes) ? attributes['name'] : undefined;
  if (name === undefined || name === null) return undefined;
  if (typeof name !== 'string') throw malformed(ownWords('name must be a string'), `${at}/attributes/name`);
  return name;
}

const malformed = (message: string, pointer: string): CofferError => invalid(message, { field: pointer });
