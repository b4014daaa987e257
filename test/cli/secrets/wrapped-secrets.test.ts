import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunner } from '../../../src/cli/command-line.ts';
import type { NamedIdentities } from '../../../src/cli/secrets/identity-places.ts';
import { unwrapSecret, wrapSecrets } from '../../../src/cli/secrets/wrapped-secrets.ts';
import { Session } from '../../../src/cli/session.ts';
import { makeWithParents } from '../../../src/ground/directories.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { encryptBytes } from '../../../src/transit/envelope/age/in-memory.ts';
import {
  ageRecipient,
  freshIdentity,
  recipientOfIdentity,
} from '../../../src/transit/envelope/age/recipients.ts';
import { refused } from '../../refusal.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';
import { promptsDouble, type StreamsDouble, streamsDouble } from '../streams.double.ts';

const LOCATION = '/srv/store';
const identity = freshIdentity(systemRandom);
const recipient = recipientOfIdentity(identity);

/** A user of a machine of their own, who can be asked if there are answers. */
class User {
  readonly home = temporaryDirectory();
  readonly streams: StreamsDouble = streamsDouble();
  readonly session: Session;

  constructor(isAskable = false) {
    const options = new Map([['store', LOCATION]]);
    this.session = new Session(
      this.streams,
      { HOME: this.home },
      options,
      promptsDouble([], isAskable),
      openRunner,
    );
  }

  async wrap(word = recipient): Promise<{ readonly secret: Uint8Array; readonly wrapped: Uint8Array }> {
    const [only] = await wrapSecrets(this.session, word);
    if (only === undefined) throw new Error('nothing was made');
    return only;
  }

  /** @param named undefined for keys at their usual places */
  unwrap(named: Omit<NamedIdentities, 'source'>, ...wrapped: readonly Uint8Array[]) {
    const source = 'COFFER_IDENTITY';
    return unwrapSecret(this.session, { named: { source, ...named }, location: LOCATION }, wrapped);
  }

  /** Puts a private key where Coffer looks for one. */
  keep(text: string): void {
    makeWithParents(join(this.home, '.config/coffer'), 0o700);
    writeFileSync(join(this.home, '.config/coffer/identity'), text, { mode: 0o600 });
  }

  /** Number of slots that are known on this machine. */
  get known(): number {
    const state = join(this.home, '.local/state/coffer/known-slots');
    return readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'))
      .length;
  }
}

const STRANGE = {
  kind: 'denied',
  message: expect.stringMatching(/^this store may have been replaced: /) as string,
};

describe('the secret of a slot for a public key', () => {
  it('is opened by a named key on another machine, which knows the slot from then on', async () => {
    const made = await new User().wrap();
    const other = new User();
    other.keep(`${identity}\n`);
    expect(await other.unwrap({}, made.wrapped)).toBeUndefined();
    expect(await other.unwrap({ text: identity }, made.wrapped)).toEqual(made.secret);
    expect(other.known).toBe(1);
    expect(await other.unwrap({}, made.wrapped)).toEqual(made.secret);
    expect(await other.unwrap({ text: identity }, made.wrapped)).toEqual(made.secret);
    expect(other.known).toBe(1);
  });

  it('of a slot that somebody else has put there is refused, unless its key is named for this command', async () => {
    const mine = new User();
    mine.keep(`${identity}\n`);
    await mine.wrap();
    const foreign = await new User().wrap();
    for (const named of [{}, { text: identity }])
      expect(await refused(mine.unwrap(named, foreign.wrapped))).toMatchObject(STRANGE);
    expect(mine.known).toBe(1);
    expect(await mine.unwrap({ text: identity, isTrusted: true }, foreign.wrapped)).toEqual(foreign.secret);
    expect(mine.known).toBe(2);
    expect(await mine.unwrap({}, foreign.wrapped)).toEqual(foreign.secret);
  });

  it('of such a slot is left out where the user can be asked for something else', async () => {
    const mine = new User(true);
    mine.keep(`${identity}\n`);
    await mine.wrap();
    const foreign = await new User().wrap();
    expect(await mine.unwrap({}, foreign.wrapped)).toBeUndefined();
    expect(await refused(mine.unwrap({ text: identity }, foreign.wrapped))).toMatchObject(STRANGE);
    expect(mine.streams.written.err).toBe('');
  });

  it('is found among damaged ones, ones for other keys, and ones of another length', async () => {
    const user = new User();
    const made = await user.wrap();
    const others = await new User().wrap(recipientOfIdentity(freshIdentity(systemRandom)));
    const encrypted = (bytes: number) =>
      encryptBytes(Buffer.alloc(bytes, 1), {
        recipients: [ageRecipient(recipient)],
        armor: false,
        random: systemRandom,
      });
    const odd = [Buffer.from('nonsense'), others.wrapped, await encrypted(31), await encrypted(33)];
    const cut = made.wrapped.subarray(0, made.wrapped.length - 1);
    expect(await user.unwrap({ text: identity, isTrusted: true }, ...odd, cut)).toBe('none');
    expect(await user.unwrap({ text: identity }, ...odd, cut, made.wrapped)).toEqual(made.secret);
  });

  it('is none for a named key that is for none of them, and the error of one that cannot be read', async () => {
    const user = new User();
    const made = await user.wrap();
    expect(await user.unwrap({ text: freshIdentity(systemRandom) }, made.wrapped)).toBe('none');
    expect(await refused(user.unwrap({ text: 'nonsense' }, made.wrapped))).toMatchObject({
      kind: 'invalid',
      message: 'no private key in COFFER_IDENTITY',
    });
  });

  it.each(['age1coffer1qqqq', 'AGE-PLUGIN-COFFER-1QQQQ', 'orders'])('is not made for %s', async (word) => {
    expect((await refused(new User().wrap(word))).kind).toBe('invalid');
  });
});

describe('a file of private keys', () => {
  const opened = async (text: string) => {
    const user = new User();
    const made = await user.wrap();
    return { result: await user.unwrap({ text }, made.wrapped), secret: made.secret };
  };

  it.each([
    ['alone', identity],
    ['in lower case and with line ends of Windows', `${identity.toLowerCase()}\r\n`],
    ['after a comment, and before another one', `# mine\n\n${identity}\n${freshIdentity(systemRandom)}\n`],
    ['after another one', `${freshIdentity(systemRandom)}\n${identity}`],
  ])('has the key %s', async (_, text) => {
    const { result, secret } = await opened(text);
    expect(result).toEqual(secret);
  });

  it.each([
    ['with a line that is neither a key nor a comment', `${identity}\npassword\n`],
    ['without a key', '# nothing\n'],
    ['that is empty', '\n'],
  ])('is refused %s', async (_, text) => {
    await expect(opened(text)).rejects.toMatchObject({ kind: 'invalid', message: /^no private key in / });
  });

  it('with the line of a pipeline is refused if that has no ID', async () => {
    await expect(opened(`# at least: \n${identity}`)).rejects.toMatchObject({
      kind: 'invalid',
      message: 'the line "# at least:" of this identity has no ID',
    });
  });
});
