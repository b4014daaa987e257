import { foldCase, plainName } from '../../tags/names.ts';
import { type Organization, organizationNotFound } from '../../tags/organization.ts';
import { pageFrom } from '../../tags/record-table.ts';
import { done, type Runner } from '../declaration/operation.ts';
import { hidden, text } from '../declaration/params.ts';
import type { ListDocument } from '../json-api/pages.ts';
import {
  attribute,
  attributePointer,
  DEFAULT_PAGE_SIZE,
  eachOrganization,
  namedOrganization,
  optionalPageParams,
} from '../json-api/params.ts';
import { organizationAttributes, organizationParams } from './attributes.ts';
import { copiedFirst, TAGS_OF_KEYS } from './copied-first.ts';
import {
  counted,
  createdText,
  listing,
  type OrganizationResource,
  organizationResource,
  pageDocument,
  projectResource,
  tagOperation,
} from './documents.ts';
import { organizationIncludes } from './sights.ts';

const printing = listing<OrganizationResource>('organization', ['Name', 'Email'], ({ attributes }) => [
  attributes.name,
  attributes.email ?? '',
  attributes['created-at'],
  attributes['external-id'],
]);

const emailOf = attribute('email', { help: 'Contact email address.', cli: { metavar: 'ADDRESS' } });

export const create = tagOperation({
  route: 'POST /organizations',
  capability: 'create',
  resource: 'organizations',
  params: {
    name: attribute('name', {
      help: 'Name of the organization: letters, digits, "-" and "_".',
      required: true,
      cli: { positional: 'each', rule: (name) => plainName(name) },
    }),
    email: emailOf,
    ...organizationParams,
  },
  cli: {
    makes: true,
    examples: { 'coffer orgs create acme --email ops@example.com': 'Create an organization' },
    ...printing.one,
    instead: (_, document) => {
      const names = printing.one.lines(document);
      const next = names.length === 1 ? ` To use it: --org ${names[0]}, or COFFER_ORG=${names[0]}.` : '';
      return createdText('organization', names) + next;
    },
  },
  async run(call, { name, email, ...values }) {
    const executionMode = values['default-execution-mode'];
    const organization = await call.tags.organizations.create({
      name: name ?? '',
      email: email || null,
      settings: organizationAttributes.settingsIn(values),
      executionMode: executionMode ?? undefined,
      field: attributePointer('name'),
    });
    return { created: true, data: { data: organizationResource(call, organization) } };
  },
});

export const list = tagOperation({
  route: 'GET /organizations',
  capability: 'list',
  // A caller with any permission in an organization may know that it exists.
  anyToken: true,
  params: {
    q: text({
      help: 'Only organizations whose name or email contains this text, case-insensitive.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    'q[name]': text(hidden('Like `q`, but searches only the name.')),
    'q[email]': text(hidden('Like `q`, but searches only the email address.')),
    ...optionalPageParams,
  },
  cli: {
    empty: { what: 'organizations', create: 'coffer orgs create NAME' },
    ...printing.all,
  },
  async run(call, values) {
    const { q, 'q[name]': inName, 'q[email]': inEmail } = values;
    const isListed = call.caller.may('organizations', 'list');
    const found = (await call.tags.organizations.list())
      .filter(({ name }) => call.caller.reaches(`organizations/${name}`))
      .map((organization) =>
        isListed || call.caller.may(`organizations/${organization.name}`, 'read')
          ? organization
          : { ...organization, email: null },
      )
      .filter(({ name, email }) => contains(name, q) || contains(email, q))
      .filter(({ name }) => contains(name, inName))
      .filter(({ email }) => contains(email, inEmail));
    const print = (organization: Organization) => organizationResource(call, organization);
    const { 'page[number]': number, 'page[size]': size } = values;
    // Unlike the other lists of this API, this one is complete, without pagination, unless a page is requested.
    if (number === undefined && size === undefined) return { data: { data: found.map(print) } };
    const page = pageFrom(found, { number: number ?? 1, size: size ?? DEFAULT_PAGE_SIZE });
    const query = { q, 'q[name]': inName, 'q[email]': inEmail };
    return { data: pageDocument(call, page, { print, path: 'organizations', query }) };
  },
});

const contains = (value: string | null, part: string | undefined): boolean =>
  !part || foldCase(value ?? '').includes(foldCase(part));

export const show = tagOperation({
  route: 'GET /organizations/:organization_name',
  params: {
    organization_name: namedOrganization,
    include: organizationIncludes,
  },
  cli: printing.one,
  async run(call, { organization_name, include }) {
    const data = organizationResource(call, await call.tags.organizations.get(organization_name));
    if (include === undefined) return { data: { data } };
    const { id } = data.relationships['default-project'].data;
    const mayRead = call.caller.may(`organizations/${organization_name}/projects/${id}`, 'read');
    const isWanted = include.length > 0 && mayRead;
    const included = isWanted ? [projectResource(call, await call.tags.projects.get({ id }))] : [];
    return { data: { data, included } };
  },
});

export const update = tagOperation({
  route: 'PATCH /organizations/:organization_name',
  resource: 'organizations',
  params: {
    organization_name: namedOrganization,
    name: attribute('name', { help: 'New name of the organization.' }),
    email: emailOf,
    ...organizationParams,
  },
  cli: {
    ...printing.one,
    examples: { 'coffer orgs update acme --email ops@example.com': 'Set the contact address' },
  },
  async run(call, { organization_name, name, email, ...values }) {
    // Policies for the new name then apply to everything in it, so it requires permission to create an organization of
    // that name.
    if (name && name !== organization_name && !call.caller.may('organizations', 'create')) {
      throw organizationNotFound(organization_name);
    }
    const executionMode = values['default-execution-mode'];
    const change = {
      name: name === undefined ? undefined : (name ?? ''),
      email: email === undefined ? undefined : email || null,
      executionMode,
      settings: organizationAttributes.settingsIn(values),
    };
    const organization = await call.tags.organizations.update(
      organization_name,
      change,
      attributePointer('name'),
    );
    return { data: { data: organizationResource(call, organization) } };
  },
});

export const remove = tagOperation({
  route: 'DELETE /organizations/:organization_name',
  params: {
    organization_name: eachOrganization,
  },
  cli: {
    async confirm({ organization_name }, runner) {
      const workspaces = await totalOf('workspaces list', organization_name, runner);
      const tags = await totalOf('tags list', organization_name, runner);
      const all = `${counted(workspaces, 'workspace')} and ${counted(tags, 'tag')}`;
      return `Delete organization ${organization_name} with its ${all}? ${copiedFirst(String(organization_name), NOT_COPIED)}`;
    },
    done: ({ organization_name }) => `Deleted organization ${organization_name}.`,
  },
  run: done(({ tags }, { organization_name }) => tags.organizations.delete(organization_name)),
});

/** What `tags export` does not have of an organization. */
const NOT_COPIED = `${TAGS_OF_KEYS}, descriptions, settings or reserved keys`;

async function totalOf(list: string, organization_name: unknown, runner: Runner): Promise<number> {
  const { data: document } = await runner.run(list, { organization_name, 'page[size]': 1 });
  return (document as ListDocument<unknown>).meta.pagination['total-count'];
}
