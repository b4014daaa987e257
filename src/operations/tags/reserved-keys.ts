import { done } from '../declaration/operation.ts';
import {
  attribute,
  attributePointer,
  booleanAttribute,
  organizationName,
  pageParams,
} from '../json-api/params.ts';
import { whichOf } from './by-name.ts';
import {
  listing,
  pageDocument,
  type ReservedKeyResource,
  reservedKeyResource,
  tagOperation,
} from './documents.ts';

/** Reserved tag keys of an organization. */

const printing = listing<ReservedKeyResource>('key', ['Key', 'Overrides'], ({ id, attributes }) => [
  attributes.key,
  attributes['disable-overrides'] ? 'not allowed' : 'allowed',
  attributes['created-at'],
  id,
]);

const which = whichOf('reserved-key', 'use the ID of a reserved key, or the key and its organization');

/** Clients use `reserved-tag-keys`; HashiCorp's manual has `reserved-tags`. */
const keyRoutes = (method: string): readonly string[] => [
  ...which.routes(method),
  `${method} /reserved-tags/:reserved_tag_key_id`,
];

const disableOverrides = booleanAttribute('disable-overrides', {
  help: 'Do not let workspaces replace the value that their project has for this key.',
  cli: { negatable: 'Let workspaces replace the value that their project has for this key.' },
});

export const create = tagOperation({
  route: 'POST /organizations/:organization_name/reserved-tag-keys',
  capability: 'create',
  resource: 'reserved-tag-keys',
  params: {
    organization_name: organizationName,
    key: attribute('key', {
      help: 'KEY of KEY=VALUE tags, e.g. cost-center.',
      required: true,
      cli: { positional: true },
    }),
    'disable-overrides': disableOverrides,
  },
  cli: {
    makes: true,
    ...printing.one,
    instead: ({ organization_name, key }) =>
      `Reserved tag key ${String(key)} in ${String(organization_name)}.`,
    examples: {
      'coffer tags reserved create env --disable-overrides --org acme':
        'Do not let workspaces replace the value that their project has for env',
    },
  },
  async run({ tags: { reservedKeys } }, { organization_name, key, 'disable-overrides': isFixed = false }) {
    const made = await reservedKeys.create(organization_name, key ?? '', isFixed, attributePointer('key'));
    return { created: true, data: { data: reservedKeyResource(made) } };
  },
});

export const list = tagOperation({
  route: 'GET /organizations/:organization_name/reserved-tag-keys',
  capability: 'list',
  params: { organization_name: organizationName, ...pageParams },
  cli: {
    empty: { what: 'reserved tag keys', create: 'coffer tags reserved create KEY' },
    paged: true,
    ...printing.page,
  },
  async run(call, { organization_name, 'page[number]': number, 'page[size]': size }) {
    const page = await call.tags.reservedKeys.list(organization_name, { number, size });
    const path = `organizations/${encodeURIComponent(organization_name)}/reserved-tag-keys`;
    return { data: pageDocument(call, page, { print: reservedKeyResource, path }) };
  },
});

export const show = tagOperation({
  route: keyRoutes('GET'),
  params: which.params,
  cli: { resolve: which.resolve, ...printing.one },
  async run({ tags: { reservedKeys } }, values) {
    return { data: { data: reservedKeyResource(await reservedKeys.get(which.meant(values))) } };
  },
});

export const update = tagOperation({
  route: keyRoutes('PATCH'),
  resource: 'reserved-tag-keys',
  params: {
    ...which.params,
    key: attribute('key', { help: 'New name of the tag key.' }),
    'disable-overrides': disableOverrides,
  },
  cli: {
    resolve: which.resolve,
    ...printing.one,
    examples: {
      'coffer tags reserved update env --no-disable-overrides --org acme':
        'Let workspaces replace the value that their project has for env',
    },
  },
  async run({ tags: { reservedKeys } }, { key, 'disable-overrides': isFixed, ...values }) {
    const change = {
      key: key === undefined ? undefined : (key ?? ''),
      disableOverrides: isFixed,
    };
    const updated = await reservedKeys.update(which.meant(values), change, attributePointer('key'));
    return { data: { data: reservedKeyResource(updated) } };
  },
});

export const remove = tagOperation({
  route: keyRoutes('DELETE'),
  params: which.params,
  cli: {
    resolve: which.resolve,
    foresee: (values, runner) => runner.run('tags reserved show', values),
    confirm: async ({ reserved_tag_key_id, reserved_tag_key }) =>
      `Release the reserved key ${String(reserved_tag_key ?? reserved_tag_key_id)}? Existing tags with this key are kept.`,
    done: ({ reserved_tag_key_id, reserved_tag_key }) =>
      `Released the reserved key ${String(reserved_tag_key ?? reserved_tag_key_id)}.`,
  },
  run: done(({ tags }, values) => tags.reservedKeys.delete(which.meant(values))),
});
