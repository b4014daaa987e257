import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseAddress } from '../../client/http-transport.ts';
import { attempt, corrupt, failingAs, invalid, placed } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { readPrivateFile } from '../../ground/private-files.ts';
import { diskError, errorCode } from '../../store/backends/files/disk-errors.ts';
import type { Environment } from '../given.ts';
import { makeOwnDirectory, stateDirectory } from '../state-directory.ts';

/** Token that "coffer login" stores for later commands. */
export interface KeptToken {
  readonly token: string;
  /** Expiration time, in milliseconds since 1970; absent if it does not expire. */
  readonly expiresMs?: number | undefined;
  /** Whether the login created it, so that only this user uses it. */
  readonly isOwn: boolean;
  /** Command that gets another token, without secrets. */
  readonly again: string;
}

/**
 * File with the token of one address, which only this user can read. Different spellings of an address are the same.
 * @see docs/decisions/0189
 */
export class TokenFile {
  readonly path: string;
  readonly #directory: string;

  private constructor(directory: string, address: string) {
    this.#directory = directory;
    this.path = join(directory, hash('sha256', canonical(address)).slice(0, 32));
  }

  /**
   * Returns the file; undefined if this user has no state directory.
   * @throws `invalid` if the address is malformed
   */
  static of(environment: Environment, address: string): TokenFile | undefined {
    const state = stateDirectory(environment);
    return state === undefined ? undefined : new TokenFile(join(state, 'logins'), address);
  }

  /**
   * Returns the file.
   * @throws `invalid` if there is no state directory
   */
  static required(environment: Environment, address: string): TokenFile {
    const file = TokenFile.of(environment, address);
    if (file !== undefined) return file;
    throw invalid('no directory to store the token in', {
      hint: 'set HOME or XDG_STATE_HOME, or use --no-store',
    });
  }

  /**
   * Reads the token.
   * @throws `corrupt` if the file has another content; `unavailable` if other users can read it
   */
  read(): KeptToken | undefined {
    let text: string;
    try {
      text = readPrivateFile(this.path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
      throw diskError(error, 'read', this.path);
    }
    const kept = parse(text);
    if (kept !== undefined) return kept;
    throw corrupt(placed`${{ file: this.path }} was not written by "coffer login"`, {
      hint: 'log in again, or delete it with "coffer logout"',
    });
  }

  /** Replaces the stored token; a simultaneous command reads either the old or the new one. */
  async write(kept: KeptToken): Promise<void> {
    const { writeOutFile } = await import('../files/out-file.ts');
    makeOwnDirectory(this.#directory);
    await writeOutFile({ path: this.path, replace: true }, `${JSON.stringify(kept)}\n`);
  }

  forget(): void {
    failingAs(
      (error) => diskError(error, 'delete', this.path),
      () => rmSync(this.path, { force: true }),
    );
  }
}

function canonical(text: string): string {
  const address = parseAddress(text);
  if (address.kind === 'socket') return `unix:${address.path}`;
  return `${address.secure ? 'https' : 'http'}://${address.host}:${address.port}`;
}

function parse(text: string): KeptToken | undefined {
  const value: unknown = attempt(() => JSON.parse(text));
  if (!isObject(value)) return undefined;
  const { token, expiresMs, isOwn, again } = value;
  const isRight =
    typeof token === 'string' &&
    typeof again === 'string' &&
    typeof isOwn === 'boolean' &&
    (expiresMs === undefined || typeof expiresMs === 'number');
  return isRight ? { token, isOwn, again, expiresMs } : undefined;
}
