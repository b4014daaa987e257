import { operation } from '../declaration/operation.ts';
import { attribute } from '../json-api/params.ts';
import { organizationResource } from './documents.ts';
import { organizationLines, organizationTable } from './organization-table.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'POST /organizations',
  capability: 'create',
  resource: 'organizations',
  params: {
    name: attribute('name', {
      help: 'The name: letters, digits, - and _.',
      required: true,
      cli: { positional: true, metavar: 'NAME' },
    }),
    email: attribute('email', { help: 'Whom to write to about it.', cli: { metavar: 'ADDRESS' } }),
  },
  cli: {
    examples: [
      [
        'coffer orgs create acme --email ops@example.com',
        'an organization, with its own workspaces and tags',
      ],
    ],
    table: ({ data }) => organizationTable({ data: [data] }),
    lines: ({ data }) => organizationLines({ data: [data] }),
  },
  async run(call, { name, email }) {
    const { organizations } = await call.core.tags();
    const organization = await organizations.create({
      name: name ?? '',
      email: email || null,
      field: '/data/attributes/name',
    });
    return { created: true, data: { data: organizationResource(call, organization) } };
  },
});
