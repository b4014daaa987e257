import type { JsonObject } from '../../ground/objects.ts';
import { foldCase } from '../../tags/names.ts';
import { type Reference, tagNotFound } from '../../tags/organization.ts';
import { documentOperation, type Outcome, type Runner } from '../declaration/operation.ts';
import { flag, hidden, text } from '../declaration/params.ts';
import { identifiers, tagNames } from '../json-api/linkage.ts';
import {
  attribute,
  attributePointer,
  booleanAttribute,
  identifierOf,
  nameInsteadOf,
  optionalOrganizationName,
  organizationName,
  pageParams,
} from '../json-api/params.ts';
import { idsFor, nameBesideId } from './by-name.ts';
import { copiedFirst, TAGS_OF_KEYS } from './copied-first.ts';
import {
  counted,
  countedIn,
  createdText,
  pageDocument,
  type ResourceDocument,
  type Resources,
  type TagResource,
  tagListing,
  tagOperation,
  tagResource,
} from './documents.ts';
import { seesTags } from './sights.ts';

/** Tags are found by their names whatever the case. */
const tagNameInstead = { ...nameInsteadOf('tag'), understoodAs: foldCase };

export const create = tagOperation({
  route: 'POST /organizations/:organization_name/tags',
  capability: 'create',
  params: {
    organization_name: organizationName,
    data: tagNames({
      help: 'Names of the new tags; converted to lower case.',
      cli: { positional: 'variadic', metavar: 'NAME' },
    }),
  },
  cli: {
    makes: true,
    ...tagListing.all,
    instead: ({ organization_name }, document) =>
      createdText('tag', tagListing.all.lines(document), organization_name),
    examples: { 'coffer tags create env:prod env:test --org acme': 'Create two tags' },
  },
  async run({ tags: { pool } }, { organization_name, data }) {
    const tags = await pool.create(organization_name, data);
    return { created: true, data: { data: tags.map(tagResource) } };
  },
});

/**
 * Parameter that only Coffer has. It is named like a filter because other servers refuse an unknown filter: the request
 * fails there, instead of listing or deleting tags that are in use.
 */
export const UNUSED_ONLY = 'filter[unused]';

const EXCLUDE = 'filter[exclude][taggable][id]';

export const list = tagOperation({
  route: 'GET /organizations/:organization_name/tags',
  capability: 'list',
  params: {
    organization_name: organizationName,
    q: text({
      help: 'Only tags whose name contains this text, case-insensitive.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    [EXCLUDE]: text({
      help: 'Only tags that this workspace does not have.',
      cli: {
        flag: 'not-on',
        formerFlags: ['exclude-taggable'],
        metavar: 'WORKSPACE',
        refersTo: 'workspace',
      },
    }),
    [UNUSED_ONLY]: flag({ help: 'Only tags that no workspace and no key has.', cli: { flag: 'unused' } }),
    ...pageParams,
  },
  cli: {
    empty: { what: 'tags', create: 'coffer tags create NAME' },
    paged: true,
    ...tagListing.page,
    resolve: idsFor({ [EXCLUDE]: 'workspace' }),
    examples: {
      'coffer tags list --org acme': 'List the first 20 tags',
      'coffer tags list prod --all --org acme': 'List tags with "prod" in the name',
      'coffer tags list --not-on billing --org acme': 'List tags that the workspace does not have yet',
      'coffer tags list --unused --org acme': 'List tags that "coffer tags prune --unused" would delete',
      "coffer tags list --all --org acme -o json | jq -r '.data[].attributes.name'":
        'Print the names from JSON',
    },
  },
  async run(call, values) {
    const { organization_name, q, [EXCLUDE]: excluded, [UNUSED_ONLY]: isUnusedOnly } = values;
    const page = await call.tags.pool.list(organization_name, {
      sees: (workspace) => seesTags(call, { organization: organization_name, ...workspace }),
      search: q,
      notOnWorkspace: excluded,
      unused: isUnusedOnly
        ? {
            // Whether a key has a tag is known only to callers who may delete the unused ones anyway.
            sparesKeys: call.caller.may(`organizations/${organization_name}/tags`, 'delete'),
          }
        : undefined,
      page: { number: values['page[number]'], size: values['page[size]'] },
    });
    const path = `organizations/${encodeURIComponent(organization_name)}/tags`;
    return {
      data: pageDocument(call, page, {
        print: tagResource,
        path,
        query: { q, [EXCLUDE]: excluded, [UNUSED_ONLY]: isUnusedOnly ? 'true' : undefined },
      }),
    };
  },
});

export const show = tagOperation({
  route: ['GET /tags/:tag_id', 'GET /organizations/:organization_name/tags/:tag_name'],
  params: {
    tag_id: text(identifierOf('tag')),
    organization_name: optionalOrganizationName,
    tag_name: tagNameInstead,
  },
  cli: { resolve: nameBesideId('tag'), ...tagListing.one },
  async run({ tags: { pool } }, { tag_id, organization_name = '', tag_name = '' }) {
    return { data: { data: tagResource(await pool.get(meant(tag_id, organization_name, tag_name))) } };
  },
});

const meant = (id: string | undefined, organization: string, name: string): Reference =>
  id === undefined ? { organization, name } : { id };

/** Formats the message of a renamed or merged tag, on all workspaces that have it now. */
function renamedText(values: JsonObject, tag: TagResource | undefined): string {
  const name = tag?.attributes.name ?? String(values['name']);
  const from = values['tag_name'] === undefined ? 'the tag' : String(values['tag_name']);
  const on =
    tag === undefined ? '' : `, which is now on ${counted(tag.attributes['instance-count'], 'workspace')}`;
  return values['merge'] === true
    ? `Merged ${from} into ${name}${on}. This cannot be undone.`
    : `Renamed ${from} to ${name}${on}.`;
}

/**
 * Renames a tag. Coffer's extension: clients of this API can only recreate tags.
 * @see docs/decisions/0196
 */
export const rename = tagOperation({
  route: ['PATCH /tags/:tag_id', 'PATCH /organizations/:organization_name/tags/:tag_name'],
  resource: 'tags',
  params: {
    tag_id: text(identifierOf('tag')),
    organization_name: optionalOrganizationName,
    tag_name: tagNameInstead,
    name: attribute('name', {
      help: 'New name of the tag; converted to lower case.',
      required: true,
      cli: { positional: true },
    }),
    merge: booleanAttribute('merge', {
      help: 'If a tag with the new name exists, add it to all workspaces and keys that have the old tag, then delete the old tag.',
    }),
  },
  cli: {
    resolve: nameBesideId('tag'),
    ...tagListing.one,
    instead: (values, document) =>
      renamedText(values, (document as ResourceDocument<TagResource> | undefined)?.data),
    examples: {
      'coffer tags rename env:prd env:prod --org acme': 'Rename a tag on all workspaces',
      'coffer tags rename env:prd env:prod --merge --org acme': 'Merge into the existing tag env:prod',
    },
  },
  async run({ tags, caller }, { tag_id, organization_name = '', tag_name = '', name, merge = false }) {
    const which = meant(tag_id, organization_name, tag_name);
    const organization = tag_id === undefined ? organization_name : await tags.organizationOf(tag_id);
    // Merging a tag into another one deletes it.
    if (merge && !caller.may(`organizations/${organization ?? ''}/tags`, 'delete')) {
      throw tagNotFound(tag_id ?? tag_name);
    }
    const tag = await tags.pool.rename(which, name ?? '', merge, attributePointer('name'));
    return { data: { data: tagResource(tag) } };
  },
});

export const remove = tagOperation({
  route: 'DELETE /organizations/:organization_name/tags',
  params: {
    organization_name: organizationName,
    data: identifiers('tag', {
      help: 'IDs of the tags.',
      cli: { positional: 'variadic', metavar: 'TAG', refersTo: 'tag', help: 'Tags, by name or ID.' },
    }),
    [UNUSED_ONLY]: flag(hidden('Delete only unused tags and return them.')),
  },
  cli: {
    resolve: idsFor({ data: 'tag' }),
    confirm: ({ data }, runner) => question(idsIn(data), runner),
    done: ({ data }) => `Deleted ${countedIn(data, 'tag')}.`,
    examples: {
      'coffer tags delete env:old --org acme': 'Delete a tag, and remove it from all workspaces and keys',
    },
  },
  async run(
    { tags: { pool } },
    { organization_name, data, [UNUSED_ONLY]: isUnusedOnly },
  ): Promise<Outcome<Resources<TagResource>>> {
    if (isUnusedOnly) {
      const deleted = await pool.deleteUnused(organization_name, data);
      return { data: { data: deleted.map(tagResource) } };
    }
    await pool.delete(organization_name, data);
    return {};
  },
});

const idsIn = (data: unknown): readonly string[] => (Array.isArray(data) ? data.map(String) : []);

/** Maximum number of tags that are named individually. */
const MAX_NAMED = 5;

async function question(ids: readonly string[], runner: Runner): Promise<string> {
  const tags: TagResource[] = [];
  for (const id of ids) {
    const { data: document } = await runner.run('tags show', { tag_id: id });
    tags.push((document as ResourceDocument<TagResource>).data);
  }
  return deletionQuestion(tags);
}

/**
 * Returns the confirmation question: which tags are deleted, and how many workspaces lose each of them; for many tags,
 * only the total.
 */
export function deletionQuestion(resources: readonly TagResource[]): string {
  const tags = resources.map(({ attributes }) => attributes);
  if (tags.length > MAX_NAMED) {
    const instances = tags.reduce((sum, tag) => sum + tag['instance-count'], 0);
    return `Delete ${tags.length} tags, used ${counted(instances, 'time')} by workspaces? ${lostOnKeys(tags.length)}`;
  }
  const losses = tags.map(({ name, 'instance-count': count }) => `${loss(count)} ${name}`);
  const text = losses.join(', ');
  return `Delete ${counted(tags.length, 'tag')}? ${text.charAt(0).toUpperCase()}${text.slice(1)}. ${lostOnKeys(tags.length)}`;
}

/** Says that keys lose tags, too: they are not counted, and a caller who deletes tags may not see them. */
const lostOnKeys = (tags: number): string => {
  const them = tags === 1 ? 'it' : 'them';
  return `Keys that have ${them} lose ${them}, too. ${copiedFirst(undefined, TAGS_OF_KEYS)}`;
};

const loss = (workspaces: number): string =>
  workspaces === 0
    ? 'no workspace has'
    : `${counted(workspaces, 'workspace')} ${workspaces === 1 ? 'loses' : 'lose'}`;

/** First request of Terraform clients; they only look at the headers of the response. */
export const ping = documentOperation({
  withoutSecret: true,
  route: 'GET /ping',
  unauthenticated: true,
  whileSealed: true,
  run: async () => ({}),
});
