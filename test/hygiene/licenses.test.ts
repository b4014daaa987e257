import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { licenseOfNode, licensesOfBundle } from '../../scripts/licenses.ts';
import { emptyPlace, removePlace } from '../e2e/harness.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Those of which esbuild puts something into a bundle of the command. */
async function bundledPackages(): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/main.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outdir: 'dist',
    metafile: true,
    write: false,
    logLevel: 'error',
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
  const folders = inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8')) as {
      readonly name: string;
      readonly version: string;
    };
    return `${name} ${version}`;
  });
}

/** The sections of a text of licenses: what it is about, and what it says. */
const sectionsOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split(`${'='.repeat(80)}\n`)
      .slice(1)
      .map((section): [string, string] => {
        const [, title = '', body = ''] = /^([^\n]*)\n\n(.*)$/s.exec(section) ?? [];
        return [title, body];
      }),
  );

it('prints the license of every package that is in the command, and no other than free ones', async () => {
  const place = emptyPlace().spawned;
  const sections = sectionsOf(await place.ok('version --licenses'));
  const json = (await place.json('version --licenses')) as { readonly licenses: string };
  removePlace(place);
  expect(sectionsOf(json.licenses).size).toBe(sections.size);
  const named = [...sections.keys()].map((title) =>
    title.replace(/ \((?:MIT|ISC|Apache-2\.0|BSD-[23]-Clause|Unlicense)\)$/, ''),
  );
  expect(named.sort()).toEqual([...(await bundledPackages())].sort());
  for (const [title, text] of sections)
    expect(text, title).toMatch(/permission|terms and conditions|released into the public domain/i);
});

it('has the license of Node at hand for the single executable, with those of the works in Node', () => {
  const [[title, text] = ['', '']] = sectionsOf(licenseOfNode());
  expect(title).toBe(`Node.js ${process.versions.node}`);
  for (const work of ['V8', 'OpenSSL', 'libuv', 'ICU', 'zlib']) expect(text).toContain(work);
});

it('can be no build with a package whose license asks for more than its text', () => {
  expect(() =>
    licensesOfBundle(root, ['node_modules/vitest/x.js', 'node_modules/lightningcss/x.js']),
  ).toThrow('lightningcss is licensed under MPL-2.0: may it be shipped?');
});
