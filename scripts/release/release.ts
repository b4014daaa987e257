/** Context of every part of a release. */
export interface Release {
  /** Root directory of the checkout. */
  readonly root: string;
  /** Version of Coffer, as in package.json. */
  readonly version: string;
  /** Timestamp of every file in the release, in seconds since 1970: that of the commit, or SOURCE_DATE_EPOCH. */
  readonly epoch: number;
  /** Directory of the finished files. */
  readonly directory: string;
  /** Directory where a part may leave files for later parts; removed at the end. */
  readonly scratch: string;
  /** Systems to build for: all, or some for a trial. */
  readonly systems: readonly System[];
}

/** Builds some files of a release, reproducibly for the same checkout on the same release of Debian. */
export type Part = (release: Release) => Promise<void>;

/** System with a single executable. */
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

/** Returns all systems, or those that COFFER_RELEASE_SYSTEMS names: `linux-x64,windows-x64`. */
export function wantedSystems(): readonly System[] {
  const named = (process.env['COFFER_RELEASE_SYSTEMS'] ?? '').split(',').filter((name) => name !== '');
  const nameOf = ({ platform, arch }: System): string => `${platform}-${arch}`;
  const stranger = named.find((name) => !SYSTEMS.some((system) => nameOf(system) === name));
  if (stranger !== undefined) throw new Error(`there is no executable for "${stranger}"`);
  return named.length === 0 ? SYSTEMS : SYSTEMS.filter((system) => named.includes(nameOf(system)));
}

export const isLinux = ({ platform }: System): boolean => platform === 'linux';

/** Returns the prefix of the files for a system: `coffer-0.2.0-linux-x64`. */
export const nameFor = ({ version }: Pick<Release, 'version'>, { platform, arch }: System): string =>
  `coffer-${version}-${platform}-${arch}`;
