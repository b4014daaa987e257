import { throwing } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import { isAge } from '../../transit/envelope/age/detect.ts';
import { decryptEnvelope, decryptRange } from '../../transit/envelope/decrypt.ts';
import { encryptEnvelope } from '../../transit/envelope/encrypt.ts';
import { Lookahead } from '../../transit/envelope/ports.ts';
import { argument, type Command, taking } from '../command.ts';
import {
  ARMOR,
  isForOthers,
  needsNoKey,
  openingOptions,
  refuseIdentities,
  sendingOptions,
} from '../envelope/age-options.ts';
import { ageNames, dataKeysOf, decryptedNames, envelopeNames, jobsOf, openingOf } from '../envelope/jobs.ts';
import { aboutStandardInput } from '../envelope/not-an-envelope.ts';
import {
  contextOf,
  contextOptions,
  expectedKey,
  inOption,
  namedKey,
  namingTyped,
  rangeOf,
  rangeOptions,
  refuseCopyAsInput,
  refuseFileAsKey,
  refuseFileBeforeKey,
  severalOptions,
  withFilesAsInput,
  withKeyFirst,
} from '../envelope/options.ts';
import { transferAll } from '../envelope/transfer.ts';
import { namedPairs } from '../files/operation-values.ts';
import { type Given, textsOption } from '../given.ts';
import { IN, outOption } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';

export const encrypt: Command = {
  arguments: [
    argument('NAME', 'Key to encrypt with; omit it if you use --recipient.', {
      required: false,
      offers: 'key',
    }),
    argument('FILE', 'Files to encrypt; the same as --in.', { required: false, offers: 'file', many: true }),
  ],
  options: [
    inOption,
    outOption,
    ...severalOptions,
    ...sendingOptions,
    taking(
      'metadata',
      'NAME=VALUE',
      'Add NAME=VALUE to the header of the file; it is authenticated, but anyone can read it.',
      { takes: 'values' },
    ),
    ...contextOptions,
  ],
  details:
    'Data is encrypted locally with a new data key. The data key is encrypted with the named key and stored in ' +
    'the file. Files can be of any size; memory use is constant. The result of a single FILE is written to ' +
    'FILE.coffer if standard output is a terminal; in a script or a pipe, it is written to standard output ' +
    'unless you use --out or --out-dir. Multiple files, or the files in a directory, are encrypted one by one ' +
    'and always get the extension ".coffer". With --recipient, files are written in the age format with the ' +
    'extension ".age"; recipients decrypt them with "age -d" or Coffer.',
  examples: [
    ['coffer transit envelope encrypt orders dump.sql --out dump.sql.coffer', 'Encrypt a file'],
    ['pg_dump shop | coffer transit envelope encrypt orders > shop.coffer', 'Encrypt a stream'],
    [
      'coffer transit envelope encrypt orders --in backups --out-dir sealed',
      'Encrypt all files in a directory',
    ],
    [
      'coffer transit envelope encrypt --recipient @team.txt inbox --in dump.sql --out dump.sql.age',
      'Encrypt for the recipients in team.txt and the key "inbox"',
    ],
  ],
  async run(session, typed) {
    const given = withFilesAsInput(typed, !needsNoKey(typed.options));
    const { options } = given;
    if (given.arguments.length > 0 && !typed.options.has(IN)) refuseFileBeforeKey(typed.arguments);
    if (given.arguments.length > 0 && !typed.options.has(IN)) refuseCopyAsInput(typed.arguments);
    const name = namedKey(given);
    if (name !== undefined) await refuseFileAsKey(session, name, given);
    if (isForOthers(options, name) || name === undefined)
      return namingTyped(typed, () => encryptForOthers(session, options));
    const metadata = namedPairs('--metadata', textsOption(options, 'metadata'));
    const jobs = await namingTyped(typed, () => jobsOf(session, options, envelopeNames));
    const keys = await dataKeysOf(session, contextOf(options));
    const key = { mount: session.settings.mount, name };
    const encrypted = transferAll({
      session,
      options,
      jobs,
      mayBeText: false,
      done: 'Encrypted',
      async transfer({ source, sink, onProgress }) {
        const { keyVersion } = await encryptEnvelope({
          key,
          keys,
          random: systemRandom,
          source,
          sink,
          metadata,
          onProgress,
        });
        return { ...key, key_version: keyVersion };
      },
    });
    return encrypted.catch(async (error: unknown) => {
      throw await withKeyFirst(error, name, typed);
    });
  },
};

async function encryptForOthers(session: Session, options: Given['options']): Promise<number> {
  const jobs = await jobsOf(session, options, ageNames);
  const { recipientsOf } = await import('../envelope/age-recipients.ts');
  const { encryptAge } = await import('../../transit/envelope/age/file.ts');
  const recipients = await recipientsOf(session, options);
  const armor = options.has(ARMOR);
  return transferAll({
    session,
    options,
    jobs,
    mayBeText: armor,
    done: 'Encrypted',
    async transfer({ source, sink, onProgress }) {
      await encryptAge({ recipients, armor, random: systemRandom, source, sink, onProgress });
      return { format: AGE, recipients: recipients.length };
    },
  });
}

/** Name of the format in reports. */
const AGE = 'age';

export const decrypt: Command = {
  arguments: [expectedKey],
  options: [inOption, outOption, ...severalOptions, ...rangeOptions, ...openingOptions, ...contextOptions],
  details:
    'Data is written only after it has been authenticated. With --out, the file appears once all of it is ' +
    'authenticated. Without --out, data is written piece by piece: if the exit code is not 0, the output is ' +
    'incomplete. With --offset or --length, only the requested range is read, so changes elsewhere in the file ' +
    'go unnoticed. Files in the age format are decrypted with a key of the store, with --identity, or with a ' +
    'passphrase.',
  examples: [
    ['coffer transit envelope decrypt --in dump.sql.coffer --out dump.sql', 'Decrypt a file'],
    [
      'coffer transit envelope decrypt orders < shop.coffer | psql shop',
      'Decrypt a stream; fail if another key than "orders" is needed',
    ],
    [
      'coffer transit envelope decrypt --in disk.coffer --offset 1048576 --length 512',
      'Decrypt a range of a large file',
    ],
    [
      'coffer transit envelope decrypt --identity ~/.ssh/id_ed25519 --in report.pdf.age --out report.pdf',
      'Decrypt an age file with an SSH key',
    ],
  ],
  async run(session, typed) {
    const { options, name, keys, identities } = await openingOf(session, typed, 'decrypt');
    const range = rangeOf(options);
    const jobs = await namingTyped(typed, () => jobsOf(session, options, decryptedNames));
    return transferAll({
      session,
      options,
      jobs,
      mayBeText: true,
      done: 'Decrypted',
      async transfer({ source: bytes, file, sink, onProgress }) {
        const source = new Lookahead(bytes);
        if (await isAge(source)) {
          const age = await import('../../transit/envelope/age/file.ts');
          const request = { identities: await identities(), sink, range, onProgress };
          const opened = await age.readAge(source);
          if (range === undefined || file === undefined || opened.armor)
            await age.decryptAge(opened, request);
          else await age.decryptAgeRange(file, { ...request, range });
          return { format: AGE, recipients: opened.header.stanzas.length };
        }
        refuseIdentities(options);
        const common = { keys: await keys(), sink, onProgress, name };
        const header =
          range !== undefined && file !== undefined
            ? await decryptRange({ ...common, file, range })
            : await decryptEnvelope({ ...common, source, range });
        const { mount, keyVersion, metadata } = header;
        return { mount, name: header.name, key_version: keyVersion, metadata };
      },
    }).catch(throwing((error) => (options.has(IN) ? error : aboutStandardInput(error, 'decrypt', name))));
  },
};
