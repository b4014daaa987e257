import { operation } from '../declaration/operation.ts';
import { tagsRelationship } from '../json-api/linkage.ts';
import { attribute, organizationName } from '../json-api/params.ts';
import { workspaceResource } from './documents.ts';
import { workspaceLines, workspaceTable } from './workspace-table.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'POST /organizations/:organization_name/workspaces',
  capability: 'create',
  resource: 'workspaces',
  params: {
    organization_name: organizationName,
    name: attribute('name', {
      help: 'The name: letters, digits, - and _.',
      required: true,
      cli: { positional: true, metavar: 'NAME' },
    }),
    description: attribute('description', { help: 'What it is for.', cli: { metavar: 'TEXT' } }),
    tags: tagsRelationship({
      help: 'Tags to put on it, by identifier or name; a name that the pool does not have is added to it.',
      cli: { flag: 'tag', metavar: 'TAG', refersTo: 'tag' },
    }),
  },
  cli: {
    table: ({ data }) => workspaceTable({ data: [data] }),
    lines: ({ data }) => workspaceLines({ data: [data] }),
    examples: [
      ['coffer workspaces create billing --tag env:prod --org acme', 'a workspace with one tag on it'],
    ],
  },
  async run(call, { organization_name, name, description, tags }) {
    const { workspaces } = await call.core.tags();
    const workspace = await workspaces.create(organization_name, {
      name: name ?? '',
      description: description || null,
      tags: tags ?? [],
      field: '/data/attributes/name',
    });
    return { created: true, data: { data: workspaceResource(call, workspace) } };
  },
});
