/** What every part of a release is given. */
export interface Release {
  /** The checkout. */
  readonly root: string;
  /** Of Coffer, as in package.json. */
  readonly version: string;
  /** The time that every file in the release carries, in seconds since 1970: that of the commit, or SOURCE_DATE_EPOCH. */
  readonly epoch: number;
  /** Where the finished files go. */
  readonly directory: string;
  /** Where a part may leave what the next ones take up; gone afterwards. */
  readonly scratch: string;
  /** Those that it is made for: all, or some for a trial. */
  readonly systems: readonly System[];
}

/** Makes some of the files of a release: the same bytes whenever it is run on the same checkout, on the same release of Debian. */
export type Part = (release: Release) => Promise<void>;

/** A system that there is a single executable for. */
export interface System {
  readonly platform: 'linux' | 'macos' | 'windows';
  readonly arch: 'x64' | 'arm64';
}

export const SYSTEMS: readonly System[] = [
  { platform: 'linux', arch: 'x64' },
  { platform: 'linux', arch: 'arm64' },
  { platform: 'macos', arch: 'arm64' },
  { platform: 'macos', arch: 'x64' },
  { platform: 'windows', arch: 'x64' },
];

/** All systems, or those that COFFER_RELEASE_SYSTEMS names: `linux-x64,windows-x64`. */
export function wantedSystems(): readonly System[] {
  const named = (process.env['COFFER_RELEASE_SYSTEMS'] ?? '').split(',').filter((name) => name !== '');
  const nameOf = ({ platform, arch }: System): string => `${platform}-${arch}`;
  const stranger = named.find((name) => !SYSTEMS.some((system) => nameOf(system) === name));
  if (stranger !== undefined) throw new Error(`there is no executable for "${stranger}"`);
  return named.length === 0 ? SYSTEMS : SYSTEMS.filter((system) => named.includes(nameOf(system)));
}

export const isLinux = ({ platform }: System): boolean => platform === 'linux';

/** What the files for a system begin with: `coffer-0.2.0-linux-x64`. */
export const nameFor = ({ version }: Pick<Release, 'version'>, { platform, arch }: System): string =>
  `coffer-${version}-${platform}-${arch}`;
