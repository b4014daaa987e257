/**
 * Packages of the distribution on which the release is built, for either architecture, in exactly the pinned versions.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from './hash.ts';

/** Architecture in the terms of the distribution, which are also those of OCI images. */
export type Processor = 'amd64' | 'arm64';

export interface Pinned {
  readonly name: string;
  readonly version: string;
  /** SHA-256 hash of the file, in hex. */
  readonly sha256: string;
}

export interface Pins {
  /** Distribution as in /etc/os-release. */
  readonly distribution: { readonly id: string; readonly version: string };
  readonly packages: Readonly<Record<Processor, readonly Pinned[]>>;
}

export const PINS_FILE = 'scripts/release/image-packages.json';
export const pinsOf = (root: string): Pins => JSON.parse(readFileSync(join(root, PINS_FILE), 'utf8')) as Pins;

/** Package sources of this machine, read for another architecture without changing the system. */
export class Distribution {
  readonly #directory: string;
  readonly #options: readonly string[];

  constructor(processor: Processor, scratch: string) {
    this.#directory = join(scratch, `apt-${processor}`);
    const place = (name: string): string => join(this.#directory, name);
    for (const name of ['lists/partial', 'cache/archives/partial', 'files']) {
      mkdirSync(place(name), { recursive: true });
    }
    const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].find((path) =>
      existsSync(path),
    );
    if (sources === undefined) throw new Error('the image is made on Debian, from its packages');
    this.#options = [
      `APT::Architecture=${processor}`,
      `APT::Architectures::=${processor}`,
      `Dir::State::lists=${place('lists')}`,
      'Dir::State::status=/dev/null',
      `Dir::Cache=${place('cache')}`,
      `Dir::Etc::SourceList=${sources}`,
      'Dir::Etc::SourceParts=/dev/null',
      'Acquire::Languages=none',
      // The user that apt would switch to for downloads cannot write to this directory.
      'APT::Sandbox::User=root',
    ].flatMap((option) => ['-o', option]);
    this.#apt('update');
  }

  /**
   * Downloads packages, by default the offered version, or a given one (`NAME=VERSION`).
   * @returns paths of the files
   */
  download(packages: readonly string[]): readonly string[] {
    this.#apt('download', ...packages);
    return globSync('*.deb', { cwd: join(this.#directory, 'files') })
      .sort()
      .map((name) => join(this.#directory, 'files', name));
  }

  #apt(...args: readonly string[]): void {
    execFileSync('apt-get', ['-qq', ...this.#options, ...args], {
      cwd: join(this.#directory, 'files'),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
}

/** Returns a field of a package's metadata. */
export const fieldOf = (file: string, field: string): string =>
  execFileSync('dpkg-deb', ['--field', file, field], { encoding: 'utf8' }).trim();

/**
 * Downloads the pinned packages.
 * @throws if the distribution no longer offers them, or offers other bytes under their names
 */
export function pinnedPackages(pins: readonly Pinned[], distribution: Distribution): readonly string[] {
  const files = distribution.download(pins.map(({ name, version }) => `${name}=${version}`));
  const found = files.map(sha256Of).sort();
  if (
    found.join() !==
    pins
      .map((pin) => pin.sha256)
      .sort()
      .join()
  ) {
    throw new Error(`the packages of the distribution are others than in ${PINS_FILE}`);
  }
  return files;
}
