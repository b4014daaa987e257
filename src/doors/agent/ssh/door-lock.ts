import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { pause } from '../../../ground/pause.ts';

const derive = promisify<Buffer, Buffer, number, Buffer>(scrypt);
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Additional delay of the response for each wrong passphrase, in milliseconds. */
const STEP_MS = 100;
const MOST_MS = 10_000;

/** Locks the SSH agent with a passphrase: `ssh-add -x` and `-X`. It is unrelated to the store's passphrases. */
export class DoorLock {
  #closed: { readonly salt: Buffer; readonly key: Buffer } | undefined;
  #wrong = 0;
  /** Last attempt; passphrases are tried one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /**
   * Locks.
   * @returns false if it is already locked
   */
  close(passphrase: Buffer): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#closed !== undefined) return false;
      const salt = randomBytes(SALT_BYTES);
      this.#closed = { salt, key: await derive(passphrase, salt, KEY_BYTES) };
      return true;
    });
  }

  /**
   * Unlocks.
   * @returns false for a wrong passphrase, and if it is not locked
   */
  open(passphrase: Buffer): Promise<boolean> {
    return this.#inTurn(async () => {
      const closed = this.#closed;
      if (closed === undefined) return false;
      const isRight = timingSafeEqual(await derive(passphrase, closed.salt, KEY_BYTES), closed.key);
      this.#wrong = isRight ? 0 : this.#wrong + 1;
      if (isRight) this.#closed = undefined;
      else await pause(Math.min(this.#wrong * STEP_MS, MOST_MS));
      return isRight;
    });
  }

  #inTurn(work: () => Promise<boolean>): Promise<boolean> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
