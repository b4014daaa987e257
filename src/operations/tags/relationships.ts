import { carriers, tagReferences } from '../json-api/linkage.ts';
import { tagId, workspaceId } from '../json-api/params.ts';
import { idsFor } from './by-name.ts';

/** Changes of the workspaces that a tag is on. */
export const carriersOfTag = {
  api: 'json-api',
  capability: 'update',
  params: { tag_id: tagId, data: carriers },
} as const;

export const carriersByName = idsFor({ tag_id: 'tag', data: 'ws' });

/** Changes of the tags that a workspace has. @param help for the list of tags. */
export const tagsOfWorkspace = (help: string) =>
  ({
    api: 'json-api',
    capability: 'update',
    params: {
      workspace_id: workspaceId,
      data: tagReferences({ help, cli: { positional: 'variadic', metavar: 'TAG', refersTo: 'tag' } }),
    },
  }) as const;

export const workspaceByName = idsFor({ workspace_id: 'ws' });
