import { invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import type { Reference } from '../../tags/organization.ts';
import { documentOperation } from '../declaration/operation.ts';
import { text, type ValuesOf } from '../declaration/params.ts';
import type { Table } from '../declaration/table.ts';
import type { ListDocument } from '../json-api/pages.ts';
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
import { nameBesideId } from './by-name.ts';
import {
  pageDocument,
  pageSummary,
  type ReservedKeyResource,
  type ResourceDocument,
  type Resources,
  reservedKeyResource,
  shortTime,
} from './documents.ts';

/** Reserved tag keys of an organization. */

const keyTable = ({ data }: Resources<ReservedKeyResource>): Table => ({
  head: ['Key', 'Overrides', 'Created', 'ID'],
  rows: data.map(({ id, attributes }) => [
    attributes.key,
    attributes['disable-overrides'] ? 'not allowed' : 'allowed',
    { time: shortTime(attributes['created-at']) },
    id,
  ]),
  lesser: [3, 2],
});

const keyPageTable = (document: ListDocument<ReservedKeyResource>): Table => ({
  ...keyTable(document),
  summary: pageSummary(document, 'key'),
});

const keyLines = ({ data }: Resources<ReservedKeyResource>): readonly string[] =>
  data.map(({ attributes }) => attributes.key);

const one = {
  table: ({ data }: ResourceDocument<ReservedKeyResource>) => keyTable({ data: [data] }),
  lines: ({ data }: ResourceDocument<ReservedKeyResource>) => keyLines({ data: [data] }),
};

const whichKey = {
  reserved_tag_key_id: text(identifierOf('reserved-key')),
  organization_name: optionalOrganizationName,
  reserved_tag_key: nameInsteadOf('reserved-key'),
};

/** Clients use `reserved-tag-keys`; HashiCorp's manual has `reserved-tags`. */
const keyRoutes = (method: string): readonly string[] => [
  `${method} /reserved-tag-keys/:reserved_tag_key_id`,
  `${method} /organizations/:organization_name/reserved-tag-keys/:reserved_tag_key`,
  `${method} /reserved-tags/:reserved_tag_key_id`,
];

const keyByName = nameBesideId('reserved-key');

function keyMeant(values: ValuesOf<typeof whichKey>): Reference {
  const { reserved_tag_key_id, organization_name, reserved_tag_key } = values;
  if (reserved_tag_key_id !== undefined) return { id: reserved_tag_key_id };
  if (organization_name !== undefined && reserved_tag_key !== undefined) {
    return { organization: organization_name, name: reserved_tag_key };
  }
  throw invalid(ownWords('missing reserved_tag_key_id'), {
    field: 'reserved_tag_key_id',
    hint: 'use the ID of a reserved key, or the key and its organization',
  });
}

const disableOverrides = booleanAttribute('disable-overrides', {
  help: 'Do not let a workspace set a value of its own for the key, in place of that of its project.',
  cli: { negatable: 'Let a workspace set a value of its own for the key, in place of that of its project.' },
});

export const create = documentOperation({
  route: 'POST /organizations/:organization_name/reserved-tag-keys',
  capability: 'create',
  withoutSecret: true,
  resource: 'reserved-tag-keys',
  params: {
    organization_name: organizationName,
    key: attribute('key', {
      help: 'KEY of KEY=VALUE tags, e.g. cost-center.',
      required: true,
      cli: { positional: true, metavar: 'KEY' },
    }),
    'disable-overrides': disableOverrides,
  },
  cli: {
    makes: true,
    ...one,
    instead: ({ organization_name, key }) =>
      `Reserved tag key ${String(key)} in ${String(organization_name)}.`,
    examples: [
      [
        'coffer tags reserved create env --disable-overrides --org acme',
        'Do not let workspaces have another value for env than their project',
      ],
    ],
  },
  async run({ core }, { organization_name, key, 'disable-overrides': isFixed = false }) {
    const { reservedKeys } = await core.tags();
    const made = await reservedKeys.create(organization_name, key ?? '', isFixed, attributePointer('key'));
    return { created: true, data: { data: reservedKeyResource(made) } };
  },
});

export const list = documentOperation({
  route: 'GET /organizations/:organization_name/reserved-tag-keys',
  capability: 'list',
  withoutSecret: true,
  params: { organization_name: organizationName, ...pageParams },
  cli: {
    empty: { what: 'reserved tag keys', create: 'coffer tags reserved create KEY' },
    paged: true,
    table: keyPageTable,
    lines: keyLines,
  },
  async run(call, { organization_name, 'page[number]': number, 'page[size]': size }) {
    const { reservedKeys } = await call.core.tags();
    const page = await reservedKeys.list(organization_name, { number, size });
    const path = `organizations/${encodeURIComponent(organization_name)}/reserved-tag-keys`;
    return { data: pageDocument(call, page, { print: reservedKeyResource, path }) };
  },
});

export const show = documentOperation({
  route: keyRoutes('GET'),
  capability: 'read',
  withoutSecret: true,
  params: whichKey,
  cli: { resolve: keyByName, ...one },
  async run({ core }, values) {
    const { reservedKeys } = await core.tags();
    return { data: { data: reservedKeyResource(await reservedKeys.get(keyMeant(values))) } };
  },
});

export const update = documentOperation({
  route: keyRoutes('PATCH'),
  capability: 'update',
  withoutSecret: true,
  resource: 'reserved-tag-keys',
  params: {
    ...whichKey,
    key: attribute('key', {
      help: 'New name of the KEY.',
      cli: { flag: 'key', metavar: 'KEY' },
    }),
    'disable-overrides': disableOverrides,
  },
  cli: {
    resolve: keyByName,
    ...one,
    examples: [
      [
        'coffer tags reserved update env --no-disable-overrides --org acme',
        'Let workspaces have another value for env than their project',
      ],
    ],
  },
  async run({ core }, { key, 'disable-overrides': isFixed, ...which }) {
    const { reservedKeys } = await core.tags();
    const change = {
      key: key === undefined ? undefined : (key ?? ''),
      disableOverrides: isFixed,
    };
    const updated = await reservedKeys.update(keyMeant(which), change, attributePointer('key'));
    return { data: { data: reservedKeyResource(updated) } };
  },
});

export const remove = documentOperation({
  route: keyRoutes('DELETE'),
  capability: 'delete',
  withoutSecret: true,
  params: whichKey,
  cli: {
    resolve: keyByName,
    foresee: (values, runner) => runner.run('tags reserved show', values),
    confirm: async ({ reserved_tag_key_id, reserved_tag_key }) =>
      `Release the reserved key ${String(reserved_tag_key ?? reserved_tag_key_id)}? Existing tags with this key are kept.`,
    done: ({ reserved_tag_key_id, reserved_tag_key }) =>
      `Released the reserved key ${String(reserved_tag_key ?? reserved_tag_key_id)}.`,
  },
  async run({ core }, values) {
    const { reservedKeys } = await core.tags();
    await reservedKeys.delete(keyMeant(values));
    return {};
  },
});
