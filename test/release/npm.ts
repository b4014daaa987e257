import { deepEqual, equal, match } from 'node:assert/strict';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, type Checks, releasedFile, root, version } from './bench.ts';

const PROGRAM = `import { type Coffer, CofferError, openStore } from 'coffer';

const coffer: Coffer = await openStore({ location: process.env['STORE'] ?? '', masterKey: process.env['KEY'] });
const { ciphertext } = await coffer.transit.encrypt({ name: 'orders', plaintext: 'aGVsbG8=' });
const text: string = ciphertext;
// @ts-expect-error there is no such parameter
const call = () => coffer.transit.encrypt({ name: 'orders', plaintext: 'aGVsbG8=', unknown: 1 });
const { plaintext } = await coffer.transit.decrypt({ name: 'orders', ciphertext: text });
const failure = await coffer.transit.keys.read({ name: 'nobody' }).catch((error: unknown) => error);
console.log(plaintext, failure instanceof CofferError && failure.kind, typeof call);
coffer.close();
`;

const npm = ['--no-audit', '--no-fund', '--offline', '--loglevel=error'];
const nodePath = (): string => join(root, 'node_modules/.bin');

/** A project of somebody's with the package in it, and no registry within reach. */
async function project(bench: Bench): Promise<string> {
  const directory = bench.directory;
  writeFileSync(join(directory, 'package.json'), '{"type":"module","private":true}\n');
  await bench.run('npm', ['install', ...npm, releasedFile(`coffer-${version}.tgz`)]);
  return join(directory, 'node_modules');
}

export const checks: Checks = {
  'the npm package is installed without a registry, with nothing beside it and nothing to run': async (
    bench,
  ) => {
    const modules = await project(bench);
    deepEqual(
      readdirSync(modules).filter((name) => !name.startsWith('.')),
      ['coffer'],
    );
    const manifest = JSON.parse(readFileSync(join(modules, 'coffer/package.json'), 'utf8')) as object;
    for (const member of ['scripts', 'dependencies', 'devDependencies'])
      equal(member in manifest, false, member);
    deepEqual(readdirSync(join(modules, '.bin')).sort(), ['age-plugin-coffer', 'coffer']);
  },
  'its commands run by npx and when they are installed for everybody': async (bench) => {
    const tarball = releasedFile(`coffer-${version}.tgz`);
    // By its whole path npx would run it as a program.
    copyFileSync(tarball, join(bench.directory, 'coffer.tgz'));
    equal(
      await bench.run('npx', ['--yes', './coffer.tgz', 'version'], offline(bench)),
      `coffer ${version}\n`,
    );
    const prefix = join(bench.directory, 'global');
    await bench.run('npm', ['install', '--global', '--prefix', prefix, ...npm, tarball]);
    equal(await bench.run(join(prefix, 'bin/coffer'), ['version']), `coffer ${version}\n`);
    const refusal = await bench.refused(join(prefix, 'bin/age-plugin-coffer'), ['--age-plugin=nothing-v1']);
    match(refusal, /is run by age/);
    // As Windows starts it, where no link has that name.
    equal(await bench.refused(join(prefix, 'bin/coffer'), ['--age-plugin=nothing-v1']), refusal);
  },
  'its types hold in a strict project, and the library runs with nothing else installed': async (bench) => {
    const modules = await project(bench);
    const types = join(root, 'node_modules/@types');
    writeFileSync(join(bench.directory, 'program.ts'), PROGRAM);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const how = ['--module', 'nodenext', '--target', 'es2024', '--skipLibCheck', 'false'];
    const given = ['--typeRoots', types, '--types', 'node', 'program.ts'];
    await bench.run(join(nodePath(), 'tsc'), ['--noEmit', ...strict, ...how, ...given]);
    const coffer = join(modules, '.bin/coffer');
    const key = (await bench.run(coffer, ['keygen'])).trim();
    const store = join(bench.directory, 'store');
    const environment = { COFFER_STORE: store, COFFER_MASTER_KEY: key };
    await bench.run(coffer, ['init', '--quiet'], environment);
    await bench.run(coffer, ['transit', 'keys', 'create', 'orders'], environment);
    const output = await bench.run(process.execPath, ['program.ts'], { STORE: store, KEY: key });
    equal(output, 'aGVsbG8= not-found function\n');
  },
};

const offline = ({ directory }: Bench): Readonly<Record<string, string>> => ({
  npm_config_offline: 'true',
  npm_config_cache: join(directory, 'cache'),
});
