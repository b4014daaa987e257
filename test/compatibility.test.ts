import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { catalogue } from '../src/operations/catalogue.ts';
import { type CatalogueBranch, type CatalogueEntry, isEntry } from '../src/operations/catalogue-entry.ts';
import type { Operation } from '../src/operations/declaration/operation.ts';
import { type Method, parseRoute, printPath } from '../src/operations/declaration/route.ts';
import { loadRoutes, type Match, mountedRoutes } from '../src/operations/routes.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(`${root}docs/compatibility.md`, 'utf8');

/** Rows of the page's table: operation, parameter, test file, title of the test. */
const rows = [
  ...page.matchAll(/^\| `([^`]+)` \| `([^`]+)` \| \[[^\]]+\]\(\.\.\/([^)]+)\) \| (.+?) \|$/gm),
].map(([, operation = '', parameter = '', file = '', title = '']) => ({ operation, parameter, file, title }));

const entriesOf = (
  branch: CatalogueBranch,
  words: readonly string[] = [],
): [string, CatalogueEntry<Operation>][] =>
  Object.entries(branch).flatMap(([word, node]) =>
    isEntry(node)
      ? [[[...words, word].join(' '), node] as [string, CatalogueEntry<Operation>]]
      : entriesOf(node, [...words, word]),
  );

describe('the page on compatibility', () => {
  it('has a row for every parameter of every transit operation, and none for what is not there', async () => {
    const declared = await Promise.all(
      entriesOf(catalogue.transit, ['transit']).map(async ([path, entry]) =>
        Object.keys((await entry.load()).declaration.params).map((parameter) => `${path} ${parameter}`),
      ),
    );
    const listed = rows.map(({ operation, parameter }) => `${operation} ${parameter}`);
    expect(declared.flat().filter((name) => !listed.includes(name))).toEqual([]);
    expect(listed.filter((name) => !declared.flat().includes(name))).toEqual([]);
  });

  it('names tests that exist', () => {
    const wrong = rows.filter(
      ({ file, title }) => !existsSync(root + file) || !readFileSync(root + file, 'utf8').includes(title),
    );
    expect(wrong).toEqual([]);
    expect(rows.length).toBeGreaterThan(0);
  });
});

/** The paths that OpenBao 2.7.2 registers for transit, with the operations of each. */
const OPENBAO = [
  'LIST keys',
  ...['POST', 'GET', 'DELETE'].map((method) => `${method} keys/:name`),
  ...[
    'config',
    'rotate',
    'trim',
    'soft-delete-restore',
    'import',
    'import_version',
    'csr',
    'set-certificate',
  ].map((word) => `POST keys/:name/${word}`),
  'DELETE keys/:name/soft-delete',
  'POST derive-key/:name',
  'GET wrapping_key',
  'GET byok-export/:destination/:source(/:version)',
  'GET export/:type/:name(/:version)',
  'GET backup/:name',
  'POST restore(/:name)',
  ...['encrypt', 'decrypt', 'rewrap', 'datakey/:type'].map((word) => `POST ${word}/:name`),
  ...['sign', 'verify', 'hmac'].map((word) => `POST ${word}/:name(/:algorithm)`),
  'POST hash(/:algorithm)',
  'POST random(/:source)(/:bytes)',
  ...['config/keys', 'cache-config'].flatMap((path) => [`GET ${path}`, `POST ${path}`]),
];

/** Rows of the page's tables of paths: path, operation. */
const paths = [...page.matchAll(/^\| `([A-Z]+ [^`]+)` \| (?:`([^`]+)`|none) \| [^|]+ \|$/gm)].map(
  ([, path = '', operation]) => ({ path, operation }),
);

/** Words that are something where only some words are; any other name is `x`. */
const SAMPLES: Readonly<Record<string, string>> = { source: 'platform', bytes: '32', type: 'plaintext' };

/** With all of its optional segments, with the first of them, with none. */
function samplesOf(notation: string): readonly { readonly method: Method; readonly path: string }[] {
  const route = parseRoute(notation);
  const optional = route.parts.flatMap((part) => ('param' in part && part.optional ? [part.param] : []));
  return [...optional, ''].map((_, count) => {
    const left = optional.slice(count);
    const path = printPath(route, (param) => (left.includes(param) ? undefined : (SAMPLES[param] ?? 'x')));
    return { method: route.method, path };
  });
}

describe('the paths of transit that the page lists', async () => {
  const table = mountedRoutes(await loadRoutes(catalogue)).get('transit');
  const answerTo = (match: Match | undefined): string | undefined =>
    typeof match === 'object' ? match.served.name.replaceAll('.', ' ') : undefined;

  it('are all that OpenBao has', () => {
    expect(OPENBAO.filter((path) => !paths.some((row) => row.path === path))).toEqual([]);
    const others = paths.filter(({ path }) => !OPENBAO.includes(path));
    expect(others.filter(({ operation }) => operation !== undefined)).toEqual([]);
  });

  it.each(paths)('has $path answered by $operation', ({ path, operation }) => {
    for (const sample of samplesOf(path)) {
      expect(answerTo(table?.match(sample.method, sample.path)), sample.path).toBe(operation);
    }
  });
});

/** Parameters of OpenBao 2.7 and Vault 2 beyond those that are declared here, by operation; what clients send may be any of them. */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  'keys create': [
    'managed_key_name',
    'managed_key_id',
    'external_key_ref',
    'parameter_set',
    'hybrid_key_type_pqc',
    'hybrid_key_type_ec',
  ],
  encrypt: ['padding_scheme', 'hash_algorithm', 'iv', 'partial_failure_response_code'],
  decrypt: ['padding_scheme', 'hash_algorithm', 'iv', 'partial_failure_response_code'],
  rewrap: ['decrypt_padding_scheme', 'encrypt_padding_scheme', 'hash_algorithm'],
  datakey: ['padding_scheme', 'bits', 'hash_algorithm'],
  sign: ['signature_context', 'salt_length', 'prehashed', 'marshaling_algorithm', 'signature_algorithm'],
  verify: ['signature_context', 'salt_length', 'prehashed', 'hmac', 'mac_length'],
  random: ['source', 'drbg'],
  'keys rotate': ['external_key_ref'],
  restore: ['force'],
};

describe('a parameter of peers', () => {
  const ignored = /taken and ignored.*?(?=\n\n)/s.exec(page)?.[0] ?? '';
  const named = [...ignored.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);

  it('is declared, or the page says that it is ignored, and never both', async () => {
    const entries = await Promise.all(
      entriesOf(catalogue.transit).map(
        async ([path, entry]) => [path, Object.keys((await entry.load()).declaration.params)] as const,
      ),
    );
    const declared = new Map(entries);
    for (const [operation, parameters] of Object.entries(PEERS)) {
      const known = declared.get(operation) ?? [];
      expect(known, operation).not.toEqual([]);
      const silent = parameters.filter((name) => !known.includes(name) && !named.includes(name));
      expect(silent, operation).toEqual([]);
    }
    const words = named.filter((name) => name !== 'random');
    const all = new Set(Object.values(PEERS).flat());
    expect(words.filter((name) => !all.has(name))).toEqual([]);
    expect(words.filter((name) => entries.some(([, known]) => known.includes(name)))).toEqual([]);
  });
});
