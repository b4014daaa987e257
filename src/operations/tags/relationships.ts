import { asCofferError } from '../../ground/errors.ts';
import type { JsonObject } from '../../ground/objects.ts';
import { tagNotFound, workspaceNotFound } from '../../tags/organization.ts';
import { isMissing } from '../declaration/deleting.ts';
import { done, type Runner } from '../declaration/operation.ts';
import { text, type ValuesOf } from '../declaration/params.ts';
import { tagReferences, workspaceIdentifiers } from '../json-api/linkage.ts';
import { pageParams, tagId, workspaceId } from '../json-api/params.ts';
import { idsFor, inTurn, namesAmong, newTagsIn } from './by-name.ts';
import {
  counted,
  countedIn,
  pageDocument,
  type TagsCall,
  tagListing,
  tagOperation,
  tagResource,
} from './documents.ts';
import { mayTag } from './sights.ts';
import {
  type ChangeWords,
  changeText,
  lengthOf,
  taggedWords,
  tagsAlready,
  tagsNear,
  untaggedWords,
  workspacesAlready,
} from './unchanged.ts';

/** Common settings for changing the workspaces of a tag. */
const workspacesOfTag = {
  capability: 'update',
  params: { tag_id: tagId, data: workspaceIdentifiers },
} as const;

const tagAndWorkspacesByName = idsFor({ tag_id: 'tag', data: 'workspace' });

const changingWorkspaces = (act: 'attach' | 'detach') =>
  done(async (call: TagsCall, { tag_id, data }: ValuesOf<(typeof workspacesOfTag)['params']>) => {
    await checkMayTag(call, tag_id, data);
    await call.tags.pool[act](tag_id, data);
  });

/**
 * Checks that the caller may change the tags of each workspace as well; otherwise the workspace does not exist for the
 * caller.
 * @throws `not-found`
 */
async function checkMayTag(call: TagsCall, tagId: string, workspaceIds: readonly string[]): Promise<void> {
  const organization = await call.tags.organizationOf(tagId);
  if (organization === undefined) throw tagNotFound(tagId);
  const hidden = workspaceIds.find((id) => !mayTag(call, organization, id));
  if (hidden !== undefined) throw workspaceNotFound(hidden);
}

/**
 * Common settings for changing the tags of a workspace.
 * @param help description of the list of tags
 */
const tagsOfWorkspace = (help: string) =>
  ({
    capability: 'update',
    params: {
      workspace_id: workspaceId,
      data: tagReferences({ help, cli: { positional: 'variadic', metavar: 'TAG', refersTo: 'tag' } }),
    },
  }) as const;

const changingTags = (act: 'tag' | 'retag' | 'untag') =>
  done(
    async (
      { tags: { workspaces } }: TagsCall,
      values: ValuesOf<ReturnType<typeof tagsOfWorkspace>['params']>,
    ) => {
      await workspaces[act]({ id: values.workspace_id }, values.data);
    },
  );

const workspaceAndTagsByName = inTurn(idsFor({ workspace_id: 'workspace' }), namesAmong('data'));

const ATTACHED: ChangeWords = {
  noun: 'workspace',
  changed: (count) => `Added the tag to ${counted(count, 'workspace')}`,
  unchanged: (count) => `${counted(count, 'workspace')} already ${count === 1 ? 'has' : 'have'} the tag`,
};
const DETACHED: ChangeWords = {
  noun: 'workspace',
  changed: (count) => `Removed the tag from ${counted(count, 'workspace')}`,
  unchanged: (count) => `${counted(count, 'workspace')} ${count === 1 ? 'does' : 'do'} not have the tag`,
};
const tagByName = idsFor({ tag_id: 'tag' });

/**
 * Resolves an existing tag. A tag is not created implicitly when it is added to many workspaces: its name may be
 * mistyped.
 */
async function existingTagByName(raw: JsonObject, runner: Runner): Promise<JsonObject> {
  try {
    return await tagByName(raw, runner);
  } catch (error) {
    const { organization: organization_name } = runner;
    if (asCofferError(error)?.kind !== 'not-found') throw error;
    if (organization_name === undefined || (await isMissing(runner, 'orgs show', { organization_name }))) {
      throw error;
    }
    throw tagNotFound(String(raw['tag_id']), {
      hint: `create it first with "coffer tags create ${String(raw['tag_id'])} --org ${organization_name}"`,
      cause: error,
    });
  }
}

export const attach = tagOperation({
  ...workspacesOfTag,
  route: 'POST /tags/:tag_id/relationships/workspaces',
  cli: {
    resolve: inTurn(existingTagByName, idsFor({ data: 'workspace' })),
    unchanged: workspacesAlready(true),
    done: ({ data }, _data, _existing, already) => changeText(ATTACHED, lengthOf(data), already),
    examples: {
      'coffer tags attach env:prod --workspace billing --workspace web --org acme':
        'Add a tag to two workspaces',
      'coffer tags attach env:prod team:core --workspace billing --org acme': 'Add two tags to a workspace',
    },
  },
  run: changingWorkspaces('attach'),
});

export const detach = tagOperation({
  ...workspacesOfTag,
  route: 'DELETE /tags/:tag_id/relationships/workspaces',
  cli: {
    resolve: tagAndWorkspacesByName,
    unchanged: workspacesAlready(false),
    done: ({ data }, _data, _existing, already) => changeText(DETACHED, lengthOf(data), already),
    examples: {
      'coffer tags detach env:prod --workspace web --org acme':
        'Remove a tag from a workspace; the tag itself is not deleted',
    },
  },
  run: changingWorkspaces('detach'),
});

export const tag = tagOperation({
  ...tagsOfWorkspace('Tags to add, by ID or name; those that do not exist are created.'),
  route: 'POST /workspaces/:workspace_id/relationships/tags',
  cli: {
    resolve: workspaceAndTagsByName,
    byTheWay: newTagsIn('data'),
    unchanged: tagsAlready(true),
    done: ({ data }, _data, _existing, already) =>
      changeText(taggedWords('the workspace'), lengthOf(data), already),
    examples: {
      'coffer workspaces tag billing env:prod team:core --org acme':
        'Add two tags, which are created if they do not exist',
    },
  },
  run: changingTags('tag'),
});

export const retag = tagOperation({
  ...tagsOfWorkspace('Tags, by ID or name; replaces all tags of the workspace.'),
  route: 'PATCH /workspaces/:workspace_id/relationships/tags',
  cli: {
    resolve: workspaceAndTagsByName,
    byTheWay: newTagsIn('data'),
    done: ({ data }) => `The workspace now has ${countedIn(data, 'tag')}.`,
    examples: { 'coffer workspaces retag billing env:prod --org acme': 'Add a tag, and remove all others' },
  },
  run: changingTags('retag'),
});

export const untag = tagOperation({
  ...tagsOfWorkspace('Tags to remove, by ID or name; unknown names are ignored.'),
  route: 'DELETE /workspaces/:workspace_id/relationships/tags',
  cli: {
    resolve: workspaceAndTagsByName,
    unchanged: tagsAlready(false),
    doubts: tagsNear,
    done: ({ data }, _data, _existing, already) =>
      changeText(untaggedWords('the workspace'), lengthOf(data), already),
    examples: {
      'coffer workspaces untag billing env:test --org acme':
        'Remove a tag from a workspace; the tag itself is not deleted',
    },
  },
  run: changingTags('untag'),
});

export const tagsOf = tagOperation({
  route: 'GET /workspaces/:workspace_id/relationships/tags',
  capability: 'list',
  params: {
    workspace_id: workspaceId,
    name: text({
      help: 'Only tags whose name contains this text, case-insensitive.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    ...pageParams,
  },
  cli: {
    empty: { what: 'tags on the workspace', create: 'coffer workspaces tag WS TAG' },
    paged: true,
    ...tagListing.page,
    resolve: idsFor({ workspace_id: 'workspace' }),
  },
  async run(call, { workspace_id, name, 'page[number]': number, 'page[size]': size }) {
    const page = await call.tags.workspaces.tags({ id: workspace_id }, name ?? '', { number, size });
    const path = `workspaces/${encodeURIComponent(workspace_id)}/relationships/tags`;
    return { data: pageDocument(call, page, { print: tagResource, path, query: { name } }) };
  },
});
