import type { Param, Params, Schema } from '../../src/operations/declaration/params.ts';
import type { Chance } from '../chance.ts';
import { goKeys, goSamples } from './go-keys.ts';
import { anyText, spoiledText } from './mutation.ts';
import { type Content, SECRET_TEXT } from './served-world.ts';
import { anyValue, spoiledValue } from './values.ts';

/** Values for the parameters of operations: mostly such that make sense, so that requests get far. */

const secretBase64 = Buffer.from(SECRET_TEXT).toString('base64');
/** To make keys of other types takes long, and is no hostile input. */
const TYPES = [
  'aes256-gcm96',
  'aes128-gcm96',
  'chacha20-poly1305',
  'xchacha20-poly1305',
  'ed25519',
  'ecdsa-p256',
  'hmac',
];
const smallBackups = goKeys.filter(({ backup }) => backup.length < 6_000).map(({ backup }) => backup);
const POLICY_TEXT =
  'path "transit/*" { capabilities = ["read", "update"] denied_parameters = { "type" = ["rsa*"] } }';
const PATHS = ['transit', 'transit/', 'other', 'transit/keys/orders', 'sys/mounts', 'a/b/c', 'auth/token'];
const WORDS = [
  'plaintext',
  'wrapped',
  'latest',
  'encryption-key',
  'hmac-key',
  'sha2-256',
  'sha2-512',
  'hex',
  'base64',
  'raw',
];

type Maker = (chance: Chance, content: Content) => unknown;

const MAKERS: Readonly<Record<string, Maker>> = {
  name: (chance, { keys }) => chance.pick([...keys, 'fresh', 'app', 'acme', 'billing']),
  source: (chance, { keys }) => chance.pick(keys),
  destination: (chance, { keys }) => chance.pick(keys),
  plaintext: () => secretBase64,
  input: () => secretBase64,
  ciphertext: (chance, { ciphertexts }) =>
    chance.oneIn(6) ? chance.pick(goSamples).text : chance.pick(Object.values(ciphertexts)),
  signature: (chance) => chance.pick(goSamples).text,
  hmac: (chance) => chance.pick(goSamples).text,
  context: (chance) => chance.pick(['AAAA', '', 'BBBB']),
  type: (chance) => chance.pick(chance.oneIn(3) ? WORDS : TYPES),
  algorithm: (chance) => chance.pick(WORDS),
  hash_algorithm: (chance) => chance.pick(WORDS),
  format: (chance) => chance.pick(WORDS),
  nonce: (chance) => chance.pick(['', 'AAAAAAAAAAAAAAAA']),
  associated_data: (chance) => chance.pick(['', 'AAAA']),
  key_version: (chance) => chance.pick([0, 0, 1, 5]),
  version: (chance) => chance.pick([0, 1, 1, 5]),
  bytes: (chance) => chance.below(200),
  bits: (chance) => chance.pick([128, 256, 512]),
  backup: (chance) => chance.pick(smallBackups),
  policy: () => POLICY_TEXT,
  policies: (chance) => chance.pick([['reader'], 'default,reader', ['root'], []]),
  path: (chance) => chance.pick(PATHS),
  paths: (chance) => [chance.pick(PATHS), chance.pick(PATHS)],
  token: (chance, { tokens }) => chance.pick(Object.values(tokens)),
  accessor: (_chance, { tokens }) => tokens.accessor,
  organization_name: (chance) => chance.pick(['acme', 'acme', 'acme', 'other', 'ACME']),
  workspace_name: (chance) => chance.pick(['billing', 'web', 'BILLING', 'nothing']),
  workspace_id: (chance, { workspaces }) => chance.pick(workspaces),
  tag_id: (chance, { tags }) => chance.pick(tags),
  q: (chance) => chance.pick(['prod', 'env:', 'ENV', '']),
  'search[tags]': (chance) => chance.pick(['env:prod', 'env:prod,team:web', ',', 'none', 'env:*']),
  'search[any-tags]': (chance) => chance.pick(['env:prod', 'team:web,none', ',', '*o*']),
  'filter[exclude][taggable][id]': (chance, { workspaces }) => chance.pick(workspaces),
};

/** A value for a parameter. @param hostile the parameter is the one that is to be wrong. */
export function valueFor(
  chance: Chance,
  content: Content,
  name: string,
  param: Param<unknown>,
  hostile: boolean,
): unknown {
  const make = Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined;
  const value = make === undefined ? fitting(chance, content, param.schema) : make(chance, content);
  if (!hostile) return value;
  return chance.oneIn(3) ? anyValue(chance) : spoiledValue(chance, value);
}

/** A value that a schema allows, or nearly. */
function fitting(chance: Chance, content: Content, schema: Schema): unknown {
  if (schema.enum !== undefined) return chance.pick(schema.enum);
  switch (schema.type) {
    case 'boolean':
      return chance.oneIn(2);
    case 'integer':
      return (schema.minimum ?? 0) + chance.size(100);
    case 'array':
      return Array.from({ length: chance.size(4) }, () => fitting(chance, content, schema.items ?? {}));
    case 'object':
      return objectOf(chance, content, schema);
    default:
      return chance.oneIn(4) ? 'bm8gc2VjcmV0' : chance.pick(WORDS);
  }
}

const objectOf = (chance: Chance, content: Content, schema: Schema): object =>
  Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .filter(() => !chance.oneIn(3))
      .map(([name, member]) => {
        const make = Object.hasOwn(MAKERS, name) && name !== 'type' ? MAKERS[name] : undefined;
        if (name === 'id') return [name, chance.pick([...content.tags, ...content.workspaces])];
        return [name, make === undefined ? fitting(chance, content, member) : make(chance, content)];
      }),
  );

/** Values for many of the parameters, of which one or a few are wrong. */
export function rawValues(
  chance: Chance,
  content: Content,
  params: Params,
): Readonly<Record<string, unknown>> {
  const names = Object.keys(params);
  const victim = chance.pick(names.length === 0 ? [''] : names);
  const members = Object.entries(params)
    .filter(([name, { presence }]) => presence === 'required' || name === victim || chance.oneIn(3))
    .map(([name, param]) => {
      const hostile = chance.oneIn(name === victim ? 2 : 30);
      return [name, valueFor(chance, content, name, param, hostile)] as [string, unknown];
    });
  if (chance.oneIn(12)) members.push([anyText(chance), anyValue(chance)]);
  if (chance.oneIn(20)) members.push([spoiledText(chance, victim), anyValue(chance, 1)]);
  return Object.fromEntries(members);
}
