import { decodeBase64 } from '../../ground/base64.ts';
import { CofferError, denied } from '../../ground/errors.ts';
import type { JsonObject } from '../../ground/objects.ts';
import { isMountPath } from '../../mounts/paths.ts';
import type { DataKeys, KeyReference } from '../../transit/envelope/ports.ts';
import type { Given } from '../given.ts';
import type { Session } from '../session.ts';
import { contextOf, namedKey, once, refuseMissingFile, withFileAsInput } from './options.ts';

const DATA_KEY_BITS = 256;

/**
 * Returns what a command that opens files was given, and what it opens them with. Nothing is opened before a file needs
 * it: an age file may not need a store at all.
 * @param verb last word of the command
 * @throws `invalid` if the name cannot be that of a key
 */
export async function openingOf(session: Session, typed: Given, verb: string) {
  const given = withFileAsInput(session, typed);
  const { options } = given;
  const name = namedKey(given);
  await refuseMissingFile(session, name, given, verb);
  return {
    options,
    name,
    keys: once(() => dataKeysOf(session, contextOf(options), name)),
    identities: once(async () => (await import('./age-identities.ts')).identitiesOf(session, options, name)),
  };
}

/**
 * Returns the named keys for envelopes, of the local store or of a server; only data keys are transferred.
 * @param context derivation context, in base64
 * @param expected name of the only key that the user accepts; then the header does not choose the mount either
 */
export async function dataKeysOf(
  session: Session,
  context: string | undefined,
  expected?: string,
): Promise<DataKeys> {
  const runner = await session.runner();
  const { mount, mountNamed } = session.settings;
  const run = async (path: string, key: KeyReference, values: object): Promise<JsonObject> => {
    const raw = { name: key.name, ...values, context };
    // The mount may have been moved since: a mount that the user names is the present location of the key.
    const place = mountNamed ? mount : possibleMount(key);
    if (expected !== undefined && place !== mount) throw otherMount(key, mount);
    const { data } = await runner.run(path, raw, place);
    return (data ?? {}) as JsonObject;
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

/**
 * Checks the mount of a header. A header is not authenticated before its key is used, and its mount becomes part of a
 * path on a server, which is written to with all permissions of the user.
 * @throws `denied` if it cannot be a transit mount
 */
function possibleMount({ mount }: KeyReference): string {
  if (isMountPath(mount)) return mount;
  throw denied('the envelope names an invalid transit mount', {
    hint: 'name the mount with --mount if you trust the file',
  });
}

const otherMount = (key: KeyReference, mount: string): CofferError =>
  denied(`the envelope is encrypted under key "${key.name}" of mount "${key.mount}", not of "${mount}"`, {
    hint: `use --mount ${key.mount} if you trust the file`,
  });

function memberOf(answer: JsonObject, member: string): string {
  const value = answer[member];
  if (typeof value === 'string') return value;
  throw new CofferError('unavailable', `unexpected response: no ${member}`);
}
