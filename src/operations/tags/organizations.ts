import { foldCase } from '../../tags/names.ts';
import type { Organization } from '../../tags/organization.ts';
import { pageFrom } from '../../tags/page.ts';
import { documentOperation, type Runner, type Table } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import type { ListDocument } from '../json-api/pages.ts';
import { attribute, DEFAULT_PAGE_SIZE, namedOrganization, optionalPageParams } from '../json-api/params.ts';
import {
  counted,
  type OrganizationResource,
  organizationResource,
  pageDocument,
  type Resources,
  shortTime,
} from './documents.ts';

/** Organizations as people read them. */
const organizationTable = ({ data }: Resources<OrganizationResource>): Table => ({
  head: ['Name', 'Email', 'Created', 'Id'],
  rows: data.map(({ attributes }) => [
    attributes.name,
    attributes.email ?? '',
    shortTime(attributes['created-at']),
    attributes['external-id'],
  ]),
});

const organizationLines = ({ data }: Resources<OrganizationResource>): readonly string[] =>
  data.map(({ id }) => id);

export const create = documentOperation({
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

export const list = documentOperation({
  route: 'GET /organizations',
  capability: 'list',
  params: {
    q: text({
      help: 'Only organizations whose name or e-mail address contains this text, whatever its case.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    'q[name]': text({ help: 'The same, for the name alone.', cli: { hidden: true } }),
    'q[email]': text({ help: 'The same, for the e-mail address alone.', cli: { hidden: true } }),
    ...optionalPageParams,
  },
  cli: {
    table: organizationTable,
    lines: organizationLines,
  },
  async run(call, values) {
    const { organizations } = await call.core.tags();
    const { q, 'q[name]': inName, 'q[email]': inEmail } = values;
    const found = (await organizations.list())
      .filter(({ name }) => call.caller.reaches(`organizations/${name}`))
      .filter(({ name, email }) => contains(name, q) || contains(email, q))
      .filter(({ name }) => contains(name, inName))
      .filter(({ email }) => contains(email, inEmail));
    const print = (organization: Organization) => organizationResource(call, organization);
    const { 'page[number]': number, 'page[size]': size } = values;
    // The only list of this API that is whole, and says nothing of pages, unless one is asked for.
    if (number === undefined && size === undefined) return { data: { data: found.map(print) } };
    const page = pageFrom(found, { number: number ?? 1, size: size ?? DEFAULT_PAGE_SIZE });
    const query = { q, 'q[name]': inName, 'q[email]': inEmail };
    return { data: pageDocument(call, page, print, 'organizations', query) };
  },
});

const contains = (value: string | null, part: string | undefined): boolean =>
  !part || foldCase(value ?? '').includes(foldCase(part));

export const show = documentOperation({
  route: 'GET /organizations/:organization_name',
  capability: 'read',
  params: {
    organization_name: namedOrganization,
  },
  cli: {
    table: ({ data }) => organizationTable({ data: [data] }),
    lines: ({ data }) => organizationLines({ data: [data] }),
  },
  async run(call, { organization_name }) {
    const { organizations } = await call.core.tags();
    return { data: { data: organizationResource(call, await organizations.get(organization_name)) } };
  },
});

export const remove = documentOperation({
  route: 'DELETE /organizations/:organization_name',
  capability: 'delete',
  params: {
    organization_name: namedOrganization,
  },
  cli: {
    async confirm({ organization_name }, runner) {
      const workspaces = await totalOf('workspaces list', organization_name, runner);
      const tags = await totalOf('tags list', organization_name, runner);
      const all = `${counted(workspaces, 'workspace')} and ${counted(tags, 'tag')}`;
      return `Delete organization ${organization_name} with its ${all}?`;
    },
    done: ({ organization_name }) => `Deleted organization ${organization_name}.`,
  },
  async run({ core }, { organization_name }) {
    const { organizations } = await core.tags();
    await organizations.delete(organization_name);
    return {};
  },
});

async function totalOf(list: string, organization_name: unknown, runner: Runner): Promise<number> {
  const { data: document } = await runner.run(list, { organization_name, 'page[size]': 1 });
  return (document as ListDocument<unknown>).meta.pagination['total-count'];
}
