import { scrypt } from 'node:crypto';
import { wiping } from '../../../ground/bytes.ts';
import { invalid } from '../../../ground/errors.ts';
import { answered } from '../../../ground/pause.ts';
import type { Random } from '../../../ground/random.ts';
import { openOnce, sealOnce, ZERO_NONCE } from '../../key-types/age/kem.ts';
import { damaged } from '../refusals.ts';
import { printUnpadded, type Stanza, unpadded } from './header.ts';
import { type AgeIdentity, type Recipient, requireShape } from './recipients.ts';

/** Passphrase recipients of age (C2SP, age.md, "scrypt"). */

export const SCRYPT = 'scrypt';
const SALT_BYTES = 16;
const LABEL = 'age-encryption.org/v1/scrypt';
const BLOCK = 8;
/** Binary logarithm of the scrypt work factor: 256 MiB and almost a second for each guess, the same as age. */
const WORK_FACTOR = 18;
/** Maximum work factor, as in age: 4 GiB and some seconds; a file cannot require more. */
const MAX_WORK_FACTOR = 22;

const wrapKeyOf = (
  passphrase: string | Uint8Array,
  salt: Uint8Array,
  workFactor: number,
): Promise<Buffer> => {
  const cost = 2 ** workFactor;
  const options = { N: cost, r: BLOCK, p: 1, maxmem: 2 * 128 * BLOCK * cost };
  return answered<Buffer>((done) =>
    scrypt(passphrase, Buffer.concat([Buffer.from(LABEL), salt]), 32, options, done),
  );
};

/**
 * Creates a recipient.
 * @param workFactor less than usual only in tests
 */
export const passphraseRecipient = (
  passphrase: string | Uint8Array,
  random: Random,
  workFactor = WORK_FACTOR,
): Recipient => ({
  group: 'passphrase',
  async wrap(fileKey): Promise<Stanza> {
    const salt = random.bytes(SALT_BYTES);
    const key = await wrapKeyOf(passphrase, salt, workFactor);
    const body = wiping(key, () => sealOnce(key, ZERO_NONCE, fileKey));
    return { type: SCRYPT, args: [printUnpadded(salt), String(workFactor)], body };
  },
});

/**
 * Creates an identity.
 * @param passphrase called if there is a file that needs it
 */
export const passphraseIdentity = (passphrase: () => Promise<string | Uint8Array>): AgeIdentity => ({
  async unwrap(stanzas) {
    const stanza = stanzas.find(({ type }) => type === SCRYPT);
    if (stanza === undefined) return undefined;
    const [salt = '', factor = ''] = requireShape(stanza.args, 2, stanza.body);
    const saltBytes = unpadded(salt, SALT_BYTES);
    if (!/^[1-9]\d{0,2}$/.test(factor)) throw damaged('its work factor is not a number');
    if (Number(factor) > MAX_WORK_FACTOR) {
      throw invalid(`the scrypt work factor is too high: 2^${factor}`, {
        hint: `the maximum is 2^${MAX_WORK_FACTOR}`,
      });
    }
    const key = await wrapKeyOf(await passphrase(), saltBytes, Number(factor));
    return wiping(key, () => openOnce(key, ZERO_NONCE, stanza.body));
  },
});
