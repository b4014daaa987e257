/** Third-party components of Node, by their names in `process.versions`. */

interface Work {
  readonly name: string;
  /** SPDX license identifier. */
  readonly license: string;
  /** Vendor and product in vulnerability databases (CPE). */
  readonly cpe?: string;
}

const WORKS: Readonly<Record<string, Work>> = {
  acorn: { name: 'acorn', license: 'MIT' },
  ada: { name: 'ada', license: 'MIT OR Apache-2.0' },
  amaro: { name: 'amaro', license: 'MIT' },
  ares: { name: 'c-ares', license: 'MIT', cpe: 'c-ares:c-ares' },
  brotli: { name: 'brotli', license: 'MIT', cpe: 'google:brotli' },
  cjs_module_lexer: { name: 'cjs-module-lexer', license: 'MIT' },
  icu: { name: 'icu', license: 'Unicode-3.0', cpe: 'unicode:international_components_for_unicode' },
  llhttp: { name: 'llhttp', license: 'MIT', cpe: 'llhttp:llhttp' },
  merve: { name: 'merve', license: 'MIT OR Apache-2.0' },
  nbytes: { name: 'nbytes', license: 'MIT' },
  ncrypto: { name: 'ncrypto', license: 'MIT' },
  nghttp2: { name: 'nghttp2', license: 'MIT', cpe: 'nghttp2:nghttp2' },
  nghttp3: { name: 'nghttp3', license: 'MIT' },
  ngtcp2: { name: 'ngtcp2', license: 'MIT' },
  openssl: { name: 'openssl', license: 'Apache-2.0', cpe: 'openssl:openssl' },
  simdjson: { name: 'simdjson', license: 'Apache-2.0 OR MIT' },
  simdutf: { name: 'simdutf', license: 'Apache-2.0 OR MIT' },
  sqlite: { name: 'sqlite', license: 'blessing', cpe: 'sqlite:sqlite' },
  undici: { name: 'undici', license: 'MIT', cpe: 'nodejs:undici' },
  uv: { name: 'libuv', license: 'MIT', cpe: 'libuv:libuv' },
  uvwasi: { name: 'uvwasi', license: 'MIT' },
  v8: { name: 'v8', license: 'BSD-3-Clause', cpe: 'google:v8' },
  zlib: { name: 'zlib', license: 'Zlib', cpe: 'zlib:zlib' },
  zstd: { name: 'zstd', license: 'BSD-3-Clause', cpe: 'facebook:zstandard' },
};

/** Entries that are interface numbers, or data that other components include. */
const NO_WORKS = ['node', 'modules', 'napi', 'cldr', 'tz', 'unicode'];

export interface NodePart extends Work {
  readonly version: string;
}

/**
 * Returns the components of a Node.
 * @param versions `process.versions` of that Node
 * @throws for a component that is not in the table yet
 */
export function partsOfNode(versions: Readonly<Record<string, string | undefined>>): readonly NodePart[] {
  return Object.entries(versions).flatMap(([key, version]): NodePart[] => {
    // An entry without a version is a component that this build does not contain.
    if (NO_WORKS.includes(key) || version === undefined || version === '') return [];
    const work = WORKS[key];
    if (work === undefined)
      throw new Error(`Node has a part ${key} that scripts/release/node-parts.ts does not know`);
    return [{ ...work, version }];
  });
}
