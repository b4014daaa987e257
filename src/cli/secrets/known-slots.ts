import { createHmac, hash } from 'node:crypto';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lengthPrefixed } from '../../ground/bytes.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { printLocation } from '../../store/backends/registry.ts';
import type { Environment } from '../given.ts';
import { makeOwnDirectory, stateDirectory } from '../state-directory.ts';

const FILE_MODE = 0o600;
const NAME_CHARACTERS = 32;

/**
 * Slots of kind `recipient` that this user has made or opened on this machine, for each location of a store. Anyone can
 * make a store that opens with another user's public key, so a store that opens with a private key may be one that an
 * attacker put in place of the user's own. The secret of a slot is random and known only to those who can open it, so
 * remembering a keyed hash of it tells the two apart.
 * @see docs/decisions/0284
 */
export class KnownSlots {
  readonly #directory: string | undefined;
  readonly #where: string;

  private constructor(directory: string | undefined, where: string) {
    this.#directory = directory;
    this.#where = where;
  }

  static async of(environment: Environment, location: Location): Promise<KnownSlots> {
    const where = await printLocation(location);
    const state = stateDirectory(environment);
    const name = hash('sha256', where).slice(0, NAME_CHARACTERS);
    return new KnownSlots(state && join(state, 'known-slots', name), where);
  }

  /** Whether any slot of a store at this location is known. */
  get isAny(): boolean {
    return this.#names().length > 0;
  }

  /** Whether a slot with this secret is known. */
  has(secret: Uint8Array): boolean {
    return this.#names().includes(this.#nameOf(secret));
  }

  /** Remembers the slot with this secret. Without a state directory, it stays unknown. */
  add(secret: Uint8Array): void {
    if (this.#directory === undefined || this.has(secret)) return;
    try {
      makeOwnDirectory(this.#directory);
      closeSync(openSync(join(this.#directory, this.#nameOf(secret)), 'wx', FILE_MODE));
    } catch {
      // The home directory is not writable, or another command was faster.
    }
  }

  #nameOf(secret: Uint8Array): string {
    const text = lengthPrefixed('coffer/1/known slot', this.#where);
    return createHmac('sha256', secret).update(text).digest('hex').slice(0, NAME_CHARACTERS);
  }

  #names(): readonly string[] {
    try {
      return this.#directory === undefined ? [] : readdirSync(this.#directory);
    } catch {
      return [];
    }
  }
}
