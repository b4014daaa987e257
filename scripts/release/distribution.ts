/** Packages of the distribution that the release is made on, for either processor, exactly those that are pinned. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from './hash.ts';

/** In the words of the distribution, which are those of OCI images as well. */
export type Processor = 'amd64' | 'arm64';

export interface Pinned {
  readonly name: string;
  readonly version: string;
  /** Of the file, as hex. */
  readonly sha256: string;
}

export interface Pins {
  /** As /etc/os-release has them. */
  readonly distribution: { readonly id: string; readonly version: string };
  readonly packages: Readonly<Record<Processor, readonly Pinned[]>>;
}

export const PINS_FILE = 'scripts/release/image-packages.json';
export const pinsOf = (root: string): Pins => JSON.parse(readFileSync(join(root, PINS_FILE), 'utf8')) as Pins;

/** The sources of this machine, read for another processor, with nothing of it changed. */
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
      // Who it would become for downloads can't write into a directory of ours.
      'APT::Sandbox::User=root',
    ].flatMap((option) => ['-o', option]);
    this.#apt('update');
  }

  /** Downloads packages, the version that is offered unless one is named (`NAME=VERSION`). @returns the files */
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

/** A member of what a package says about itself. */
export const fieldOf = (file: string, field: string): string =>
  execFileSync('dpkg-deb', ['--field', file, field], { encoding: 'utf8' }).trim();

/** @throws when the distribution offers them no more, or other bytes by their names. */
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
