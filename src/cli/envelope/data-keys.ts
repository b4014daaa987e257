import { decodeBase64 } from '../../base64.ts';
import { CofferError } from '../../errors.ts';
import type { DataKeys, KeyReference } from '../../transit/envelope/ports.ts';
import { loadOperation } from '../runner.ts';
import type { Session } from '../session.ts';

const DATA_KEY_BITS = 256;

/**
 * The named keys as envelopes need them, of the local store or of a server: only data keys travel.
 * @param context The derivation context, base64.
 */
export async function dataKeysOf(session: Session, context: string | undefined): Promise<DataKeys> {
  const runner = await session.runner();
  const { mount, mountNamed } = session.settings;
  const run = async (path: string, key: KeyReference, values: object): Promise<Answer> => {
    const operation = await loadOperation(path);
    const raw = { name: key.name, ...values, ...(context === undefined ? {} : { context }) };
    // A mount is only a place: one that was named on purpose is where the key lies now.
    const { data } = await runner.run(operation, raw, mountNamed ? mount : key.mount);
    return (data ?? {}) as Answer;
  };
  return {
    async create(key) {
      const answer = await run('transit datakey', key, { type: 'plaintext', bits: DATA_KEY_BITS });
      return {
        plaintext: decodeBase64(memberOf(answer, 'plaintext')),
        wrapped: memberOf(answer, 'ciphertext'),
      };
    },
    async unwrap(key, ciphertext) {
      return decodeBase64(memberOf(await run('transit decrypt', key, { ciphertext }), 'plaintext'));
    },
    async rewrap(key, ciphertext) {
      return memberOf(await run('transit rewrap', key, { ciphertext }), 'ciphertext');
    },
  };
}

type Answer = Readonly<Record<string, unknown>>;

function memberOf(answer: Answer, member: string): string {
  const value = answer[member];
  if (typeof value === 'string') return value;
  throw new CofferError('unavailable', `the answer has no ${member} in it`);
}
