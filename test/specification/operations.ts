import type { Params } from './row.ts';

/**
 * The operations of the two specifications: method and path as they write them, and the command of each. `:name` is a parameter of the path
 * or by position, `(/:name)` one that may be in the path.
 */
interface SpecifiedOperation {
  readonly http: string;
  readonly command: string;
  /** Flags that are not called as their parameters are. */
  readonly flags?: Readonly<Record<string, string>>;
  /** `data` of the JSON:API document that the request carries. */
  document?(params: Params): unknown;
  /** The parameter that a command line has as its value, behind all others. */
  readonly value?: { readonly param: string; readonly isBase64: boolean };
}

const linkage = (type: string, ids: unknown) => [ids].flat().map((id) => ({ type, id }));
const organization = { organization_name: 'org' };

const base64 = (param: string) => ({ param, isBase64: true });
const text = (param: string) => ({ param, isBase64: false });

const SPECIFIED = {
  create: { http: 'POST keys/:name', command: 'transit keys create :name' },
  read: { http: 'GET keys/:name', command: 'transit keys read :name' },
  list: { http: 'LIST keys', command: 'transit keys list' },
  delete: { http: 'DELETE keys/:name', command: 'transit keys delete :name' },
  config: { http: 'POST keys/:name/config', command: 'transit keys config :name' },
  rotate: { http: 'POST keys/:name/rotate', command: 'transit keys rotate :name' },
  export: { http: 'GET export/:key_type/:name(/:version)', command: 'transit keys export :name' },
  encrypt: { http: 'POST encrypt/:name', command: 'transit encrypt :name', value: base64('plaintext') },
  decrypt: { http: 'POST decrypt/:name', command: 'transit decrypt :name', value: text('ciphertext') },
  rewrap: { http: 'POST rewrap/:name', command: 'transit rewrap :name', value: text('ciphertext') },
  datakey: { http: 'POST datakey/:type/:name', command: 'transit datakey :type :name' },
  random: { http: 'POST random(/:bytes)', command: 'transit random :bytes' },
  hash: { http: 'POST hash(/:algorithm)', command: 'transit hash', value: base64('input') },
  hmac: { http: 'POST hmac/:name(/:algorithm)', command: 'transit hmac :name', value: base64('input') },
  sign: { http: 'POST sign/:name(/:hash_algorithm)', command: 'transit sign :name', value: base64('input') },
  verify: {
    http: 'POST verify/:name(/:hash_algorithm)',
    command: 'transit verify :name',
    value: base64('input'),
  },
  backup: { http: 'GET backup/:name', command: 'transit backup :name' },
  restore: { http: 'POST restore(/:name)', command: 'transit restore :name', value: text('backup') },
  trim: { http: 'POST keys/:name/trim', command: 'transit keys trim :name' },
  'configure cache': { http: 'POST cache-config', command: 'transit cache-config' },
  'read cache': { http: 'GET cache-config', command: 'transit cache-config' },
  'tags list': {
    http: 'GET organizations/:organization_name/tags',
    command: 'tags list :q',
    flags: {
      ...organization,
      'page[size]': 'page-size',
      'page[number]': 'page',
      'filter[exclude][taggable][id]': 'not-on',
    },
  },
  'tags delete': {
    http: 'DELETE organizations/:organization_name/tags',
    command: 'tags delete :tags',
    flags: organization,
    document: ({ tags }) => linkage('tags', tags),
  },
  'tags attach': {
    http: 'POST tags/:tag_id/relationships/workspaces',
    command: 'tags attach :tag_id',
    flags: { workspaces: 'workspace' },
    document: ({ workspaces }) => linkage('workspaces', workspaces),
  },
  'tags create': {
    http: 'POST organizations/:organization_name/tags',
    command: 'tags create :names',
    flags: organization,
    document: ({ names }) => [names].flat().map((name) => ({ type: 'tags', attributes: { name } })),
  },
  'tags of': { http: 'GET workspaces/:workspace_id/relationships/tags', command: 'tags of :workspace_id' },
} satisfies Readonly<Record<string, SpecifiedOperation>>;

export type OperationName = keyof typeof SPECIFIED;
export const OPERATIONS: Readonly<Record<OperationName, SpecifiedOperation>> = SPECIFIED;
