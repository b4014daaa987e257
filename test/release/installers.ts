import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '../../scripts/release/hash.ts';
import { wantedSystems } from '../../scripts/release/release.ts';
import { Unavailable } from '../clients/client.ts';
import {
  type Bench,
  type Checks,
  type Environment,
  released,
  releasedFile,
  root,
  serveFiles,
  version,
  wants,
} from './bench.ts';

const downloadOf = (platform: string): string =>
  `coffer-${version}-${platform}.${platform.startsWith('windows') ? 'zip' : 'tar.xz'}`;
const here = `linux-${process.arch}`;

/** An installer as it would be in a release that somebody signs with a key, beside the files that it fetches. */
interface Mirror {
  readonly script: string;
  readonly directory: string;
  readonly environment: Environment;
  /** Over plain HTTP, which is for this machine alone. */
  readonly plain: string;
  /** Signs the list anew, as the maker does, or as somebody else. */
  sign(key?: string): Promise<void>;
}

async function mirror(bench: Bench): Promise<Mirror> {
  const directory = join(bench.directory, 'mirror');
  mkdirSync(directory);
  copyFileSync(releasedFile(downloadOf(here)), join(directory, downloadOf(here)));
  const coffer = join(root, 'bin/coffer');
  const key = (await bench.run(coffer, ['keygen'])).trim();
  const store = { COFFER_STORE: join(bench.directory, 'store'), COFFER_MASTER_KEY: key };
  await bench.run(coffer, ['init', '--quiet'], store);
  for (const name of ['maker', 'stranger']) {
    await bench.run(coffer, ['transit', 'keys', 'create', name, '--type', 'ed25519'], store);
  }
  const sign = async (name = 'maker'): Promise<void> => {
    const list = [
      join(directory, downloadOf(here)),
      '--key',
      name,
      '--manifest',
      join(directory, 'SHA256SUMS'),
    ];
    for (const format of ['ssh', 'minisign']) {
      await bench.run(coffer, ['sign', ...list, '--force', '--format', format], store);
    }
  };
  await sign();
  const shown = (...format: readonly string[]): Promise<string> =>
    bench.run(coffer, ['transit', 'keys', 'public', 'maker', '--format', ...format], store);
  const values: Readonly<Record<string, string>> = {
    allowed_signers: (await shown('allowed-signers', '--identity', 'coffer-release')).trim(),
    minisign_key: (await shown('minisign')).trim().split('\n').at(-1) ?? '',
  };
  const script = join(bench.directory, 'install.sh');
  const text = readFileSync(releasedFile('install.sh'), 'utf8');
  writeFileSync(
    script,
    text.replace(
      /^(allowed_signers|minisign_key)='[^']*'$/gm,
      (_, name: string) => `${name}='${values[name]}'`,
    ),
  );
  const { secure, plain, caFile } = await serveFiles(bench, directory);
  return {
    script,
    directory,
    plain: plain.replace(version, 'VERSION'),
    environment: {
      HOME: bench.directory,
      CURL_CA_BUNDLE: caFile,
      COFFER_INSTALL_URL: secure.replace(version, 'VERSION'),
    },
    sign,
  };
}

/** The machine's programs but for some, as if these were not installed. */
async function pathWithout(bench: Bench, absent: readonly string[]): Promise<string> {
  const directory = join(bench.directory, `without-${absent.join('-')}`);
  mkdirSync(directory);
  await bench.run('sh', ['-c', `ln -s /usr/bin/* ${directory}/; ln -sf /bin/* ${directory}/`]);
  await bench.run('rm', absent.map((name) => join(directory, name)).concat('-f'));
  return directory;
}

export const checks: Checks = {
  'the formula is Ruby, and names each download for macOS and Linux with its sum': async (bench) => {
    await wants(bench, 'ruby');
    await bench.run('ruby', ['-c', releasedFile('coffer.rb')]);
    const formula = readFileSync(releasedFile('coffer.rb'), 'utf8');
    for (const { platform, arch } of wantedSystems().filter((system) => system.platform !== 'windows')) {
      const file = downloadOf(`${platform}-${arch}`);
      match(formula, new RegExp(`/${file}"\n +sha256 "${sha256Of(releasedFile(file))}"`));
    }
    const list = await bench.run('tar', ['-tf', releasedFile(downloadOf(here))]);
    for (const [, name = ''] of formula.matchAll(/\.install "([^"]+)"/g)) {
      ok(list.includes(`/${name}\n`), `the formula wants ${name}`);
    }
  },
  'the manifest of Scoop names the download for Windows with its sum and its folder': async () => {
    if (!wantedSystems().some(({ platform }) => platform === 'windows')) return;
    const manifest = JSON.parse(readFileSync(releasedFile('coffer.json'), 'utf8'));
    const { url, hash, extract_dir: folder } = manifest.architecture['64bit'];
    equal(manifest.version, version);
    match(url, new RegExp(`^https://.*/${downloadOf('windows-x64')}$`));
    equal(hash, sha256Of(releasedFile(downloadOf('windows-x64'))));
    const [executable, [target, plugin]] = manifest.bin;
    ok(readFileSync(releasedFile(downloadOf('windows-x64'))).includes(`${folder}/${executable}`));
    deepEqual([target, plugin], [executable, 'age-plugin-coffer']);
  },
  'shellcheck finds nothing in the scripts that are handed out': async (bench) => {
    await wants(bench, 'shellcheck');
    await bench.run('shellcheck', [releasedFile('install.sh'), join(root, 'scripts/release/install.sh')]);
    const scripts = ['common.sh', 'install.sh', 'log-in.sh', 'decrypt.sh', 'hand-over.sh'];
    await bench.run('sh', [
      '-c',
      `cd "${root}" && shellcheck -x ${scripts.map((name) => `action/${name}`).join(' ')}`,
    ]);
  },
  'the script as it is in the release installs by its own sums': async (bench) => {
    // Whoever signed the release: no key is trusted that was not asked for.
    const script = releasedFile('install.sh');
    const signed = existsSync(join(released, 'SHA256SUMS'));
    const from = signed ? released : (await mirror(bench)).directory;
    const { secure, caFile } = await serveFiles(bench, from);
    const environment = {
      HOME: bench.directory,
      CURL_CA_BUNDLE: caFile,
      COFFER_INSTALL_URL: secure.replace(version, 'VERSION'),
    };
    await bench.run('sh', [script], environment);
    equal(await bench.run(join(bench.directory, '.local/bin/coffer'), ['version']), `coffer ${version}\n`);
  },
  'the script verifies with minisign, else with ssh-keygen, and installs where it is told': async (bench) => {
    for (const program of ['minisign', 'ssh-keygen']) await wants(bench, program);
    const { script, environment } = await mirror(bench);
    const target = join(bench.directory, 'some where');
    const said = await bench.run('sh', [script, '--prefix', target], environment);
    match(said, /is signed by its maker/);
    equal(readlinkSync(join(target, 'bin/age-plugin-coffer')), 'coffer');
    const PATH = await pathWithout(bench, ['minisign']);
    const again = await bench.run(
      'sh',
      ['-s', '--', '--version', version],
      { ...environment, PATH, PREFIX: target },
      readFileSync(script, 'utf8'),
    );
    match(again, /is signed by its maker/);
    equal(await bench.run(join(target, 'bin/coffer'), ['version']), `coffer ${version}\n`);
  },
  'the script installs where no program may run among the temporary files': async (bench) => {
    if (process.getuid?.() !== 0) throw new Unavailable('only root can mount something');
    const { script, environment } = await mirror(bench);
    const temporary = join(bench.directory, 'temporary');
    mkdirSync(temporary);
    const mounted = `mount -t tmpfs -o noexec tmpfs "${temporary}" && TMPDIR="${temporary}" sh "${script}"`;
    await bench.run('unshare', ['--mount', 'sh', '-c', mounted], environment);
    equal(await bench.run(join(bench.directory, '.local/bin/coffer'), ['version']), `coffer ${version}\n`);
  },
  'the script fetches with wget where there is no curl': async (bench) => {
    await wants(bench, 'wget');
    const { script, environment, plain } = await mirror(bench);
    const PATH = await pathWithout(bench, ['curl']);
    await bench.run('sh', [script], { ...environment, PATH, COFFER_INSTALL_URL: plain });
    equal(await bench.run(join(bench.directory, '.local/bin/coffer'), ['version']), `coffer ${version}\n`);
  },
  'the script installs nothing that was changed, or signed by somebody else, or that came in plain': async (
    bench,
  ) => {
    const { script, environment, directory, sign } = await mirror(bench);
    const refused = async (
      reason: RegExp,
      more: Environment = {},
      words: readonly string[] = [],
    ): Promise<void> => {
      match(await bench.refused('sh', [script, ...words], { ...environment, ...more }), reason);
      equal(existsSync(join(bench.directory, '.local/bin/coffer')), false);
    };
    const noMinisign = { PATH: await pathWithout(bench, ['minisign']) };
    const nobody = { PATH: await pathWithout(bench, ['minisign', 'ssh-keygen']) };
    await refused(/by https alone/, { COFFER_INSTALL_URL: 'http://example.org/VERSION' });
    await refused(/by https alone/, { COFFER_INSTALL_URL: 'http://127.0.0.1:80@example.org/VERSION' });
    await refused(/can't be fetched/, { CURL_CA_BUNDLE: undefined });
    await refused(/can't be fetched/, {}, ['--version', '9.9.9']);
    await refused(/no version/, {}, ['--version', '../9']);
    await refused(/no option/, {}, ['--verbose']);
    await sign('stranger');
    await refused(/not of the maker/);
    await refused(/not of the maker/, noMinisign);
    const archive = join(directory, downloadOf(here));
    const bytes = readFileSync(archive);
    writeFileSync(archive, Buffer.concat([bytes, Buffer.from('more')]));
    await sign();
    // Whoever has the key of the maker still can't give another file out as this version.
    await refused(/otherwise than this file/);
    await refused(/otherwise than this file/, nobody);
    writeFileSync(archive, bytes);
    await sign();
    writeFileSync(archive, Buffer.concat([bytes, Buffer.from('more')]));
    await refused(/is not what SHA256SUMS says/);
    await refused(/is not what SHA256SUMS says/, nobody);
  },
  'another version is installed if its sums are signed, and not otherwise': async (bench) => {
    await wants(bench, 'minisign');
    const { script, environment, plain } = await mirror(bench);
    // The script of an earlier version, which knows nothing of this one.
    const text = readFileSync(script, 'utf8').replace(/^own_version=.*/m, "own_version='0.0.1'");
    writeFileSync(script, text.replace(/^own_sums='[^']*'/m, "own_sums=''"));
    const nobody = { PATH: await pathWithout(bench, ['minisign', 'ssh-keygen']) };
    const words = [script, '--version', version];
    match(await bench.refused('sh', words, { ...environment, ...nobody }), /nothing here can verify/);
    const keyless = join(bench.directory, 'keyless.sh');
    const emptied = readFileSync(script, 'utf8').replace(
      /^(allowed_signers|minisign_key)='[^']*'/gm,
      "$1=''",
    );
    writeFileSync(keyless, emptied);
    match(await bench.refused('sh', [keyless, ...words.slice(1)], environment), /this script has no key/);
    await bench.run('sh', words, { ...environment, COFFER_INSTALL_URL: plain });
    equal(await bench.run(join(bench.directory, '.local/bin/coffer'), ['version']), `coffer ${version}\n`);
  },
};
