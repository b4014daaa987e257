/** Each download of the single executable, for every system: what is in it, how large it is, and whether it does the main job. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LICENSES } from '../../scripts/licenses.ts';
import { fileFor } from '../../scripts/release/downloads.ts';
import { nameFor, type System, wantedSystems } from '../../scripts/release/release.ts';
import { IDENTITY } from '../../scripts/release/sums.ts';
import { FUSE, MAX_EXECUTABLE_BYTES } from '../../scripts/single-executable.ts';
import { type Bench, type Checks, released, releasedFile, root, version, wants } from './bench.ts';
import { readMachO } from './mach-o.ts';

const MAX_DOWNLOAD_BYTES = 28 * 2 ** 20;

/** Unpacks a download. @returns the path of the executable in it */
export async function unpacked(bench: Bench, system: System): Promise<string> {
  const windows = system.platform === 'windows';
  const path = releasedFile(fileFor({ version }, system));
  if (windows) await bench.run('unzip', ['-q', path]);
  else await bench.run('tar', ['-xJf', path]);
  const folder = join(bench.directory, nameFor({ version }, system));
  const executable = windows ? 'coffer.exe' : 'coffer';
  equal(
    readdirSync(folder).sort().join(),
    ['LICENSE', 'README.md', LICENSES, executable, 'completions'].join(),
  );
  return join(folder, executable);
}

/** Node sets the character after its name for the place when something is put into it. */
const mustBeFilled = (file: Buffer): void => ok(file.includes(`${FUSE}:1`), 'nothing was put into it');

function lookAtMac(arch: string, path: string): void {
  const file = readFileSync(path);
  const { arch: found, segments, signature } = readMachO(file);
  equal(found, arch);
  ok(segments.includes('NODE_SEA'), `of its segments ${segments} none is NODE_SEA`);
  ok(signature !== undefined && signature.bytes > 0, 'it has no signature');
  ok(signature.at + signature.bytes <= file.length, 'its signature is cut off');
  mustBeFilled(file);
}

async function lookAtWindows(bench: Bench, path: string): Promise<void> {
  const file = readFileSync(path);
  equal(file.toString('latin1', 0, 2), 'MZ');
  ok(file.includes(Buffer.from('NODE_SEA_BLOB', 'utf16le')), 'it has no resource NODE_SEA_BLOB');
  mustBeFilled(file);
  await wants(bench, 'osslsigncode');
  // The signature of the file that it was made of would be a false one.
  match(await bench.refused('osslsigncode', ['verify', path]), /No signature found/);
}

async function lookAt(bench: Bench, system: System): Promise<void> {
  const executable = await unpacked(bench, system);
  const { platform, arch } = system;
  if (platform === 'macos') return lookAtMac(arch, executable);
  if (platform === 'windows') return lookAtWindows(bench, executable);
  // What the loader has written stays as it is: strip loses the mark when it takes sections away.
  match(await bench.run('readelf', ['-lW', executable]), /^ +GNU_RELRO /m);
  const { size } = statSync(executable);
  ok(size <= MAX_EXECUTABLE_BYTES, `the executable has ${size} bytes`);
  const download = statSync(releasedFile(fileFor({ version }, system))).size;
  ok(download <= MAX_DOWNLOAD_BYTES, `the download has ${download} bytes`);
  if (arch === process.arch) await bench.run('bash', [join(root, '.ci/smoke'), executable]);
}

const SIGNERS = ['release.allowed_signers', '-I', IDENTITY, '-s', 'SHA256SUMS.sig'];
const inRelease = (command: string): string[] => ['-c', `cd "${released}" && ${command}`];

export const checks: Checks = {
  'a part that there is none of is refused, and what is there stays': async (bench) => {
    const before = readdirSync(released);
    match(
      await bench.refused(process.execPath, [join(root, 'scripts/release.ts'), 'npm', 'sum']),
      /no part "sum"/,
    );
    deepEqual(readdirSync(released), before);
  },
  'the sums are those of the files': async (bench) => {
    await bench.run('sh', inRelease('sha256sum --check --quiet --strict SHA256SUMS'));
  },
  'ssh-keygen, minisign and Coffer take the signatures': async (bench) => {
    await bench.run('sh', inRelease(`ssh-keygen -Y verify -n file -f ${SIGNERS.join(' ')} < SHA256SUMS`));
    await wants(bench, 'minisign');
    await bench.run('sh', inRelease('minisign -V -p release.minisign.pub -m SHA256SUMS'));
    const coffer = join(root, 'bin/coffer');
    for (const how of [
      'SHA256SUMS SHA256SUMS.minisig --public-key release.minisign.pub',
      `SHA256SUMS --manifest --allowed-signers release.allowed_signers --identity ${IDENTITY}`,
    ]) {
      await bench.run('sh', inRelease(`"${coffer}" verify ${how}`));
    }
  },
  ...Object.fromEntries(
    wantedSystems().map((system) => [
      `${fileFor({ version }, system)} has what belongs to it, and no more than it may have`,
      (bench: Bench) => lookAt(bench, system),
    ]),
  ),
};
