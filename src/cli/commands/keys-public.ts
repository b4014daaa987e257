import type { KeyObject } from 'node:crypto';
import { invalid, unsupported } from '../../ground/errors.ts';
import { allowedSignerLine } from '../../signatures/allowed-signers.ts';
import { printMinisignKey } from '../../signatures/minisign.ts';
import { sshLine } from '../../signatures/ssh-key.ts';
import { keyIdOf } from '../../transit/jwks.ts';
import { type OwnCommand, taking } from '../command.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { printResult } from '../files/output.ts';
import { numberOption, textOption } from '../given.ts';
import { outOptions } from '../parse/operation-spec.ts';
import { type PublicVersion, publicVersions, versionOf } from '../signatures/named-keys.ts';

const FORMAT = 'format';
const VERSION = 'version';
const IDENTITY = 'identity';

interface NamedIdentity {
  readonly name: string;
  readonly mount: string;
  /** Identity in the allowed signers file for which the key signs. */
  readonly identity: string;
}

/** Output format of public keys. */
interface Form {
  /** Whether every version is printed unless one is named; by default only the latest. */
  readonly all?: true;
  /** Whether the format is binary, which is printed as base64 where text is required. */
  readonly binary?: true;
  print(version: PublicVersion, named: NamedIdentity): string;
}

const spki = (key: KeyObject, format: 'pem' | 'der') =>
  key.export({ format, type: 'spki' } as { format: 'pem'; type: 'spki' });

/** Returns the comment that identifies the key, for users and for "coffer ssh-keygen". */
const commentOf = ({ number }: PublicVersion, { name, mount }: NamedIdentity): string =>
  `coffer:${mount}/${name}:v${number}`;

/**
 * Returns the age recipient of a key.
 * @throws `unsupported` if its type has none
 */
function recipientOf({ recipient }: PublicVersion): string {
  if (recipient !== undefined) return recipient;
  throw unsupported('keys of this type cannot be used as age recipients', {
    field: FORMAT,
    hint: 'create such a key with "coffer transit keys create NAME --type x25519"',
  });
}

/** SSH would take a recipient on P-256 for a key that signs. @throws `unsupported` */
function signingKeyOf({ key, recipient }: PublicVersion): KeyObject {
  if (recipient === undefined) return key;
  throw unsupported('SSH does not support keys of this type', { hint: 'use an ed25519, ECDSA or RSA key' });
}

const FORMS: Readonly<Record<string, Form>> = {
  pem: { print: ({ key }) => spki(key, 'pem').toString() },
  der: { binary: true, print: ({ key }) => Buffer.from(spki(key, 'der')).toString('base64') },
  jwk: {
    print: (version, { name }) =>
      `${JSON.stringify({ ...version.key.export({ format: 'jwk' }), kid: keyIdOf(name, version.number) })}\n`,
  },
  ssh: { print: (version, named) => `${sshLine(signingKeyOf(version), commentOf(version, named))}\n` },
  'allowed-signers': {
    all: true,
    print: (version, named) =>
      `${allowedSignerLine(named.identity, signingKeyOf(version), version.createdAt, commentOf(version, named))}\n`,
  },
  minisign: { print: ({ key }) => printMinisignKey(key) },
  age: { print: (version) => `${recipientOf(version)}\n` },
};

export const command: OwnCommand = {
  arguments: [{ metavar: 'NAME', help: 'Name of the key.', required: true, offers: 'key' }],
  options: [
    taking(FORMAT, 'FORMAT', 'Output format.', { fallback: 'pem', choices: Object.keys(FORMS) }),
    taking(VERSION, 'N', 'Key version.', { fallback: 'latest; for allowed-signers, all' }),
    taking(IDENTITY, 'WHO', 'Name of the signer in an allowed-signers line, e.g. an email address.', {
      fallback: 'the name of the key',
    }),
    ...outOptions,
  ],
  details:
    'The allowed-signers format has one line per key version, with the time from which this version is valid. ' +
    'Use the file with "coffer verify", "ssh-keygen -Y verify" or git to verify signatures of any version. ' +
    '"ssh-keygen -Y verify" does not read PEM, the default format.',
  examples: [
    [
      'coffer transit keys public release --format ssh',
      'Print a line for authorized_keys (for user.signingKey of git, put key:: before it)',
    ],
    [
      'coffer transit keys public release --format allowed-signers --identity release@example.com > allowed_signers',
      'Write an allowed_signers file for ssh-keygen and git',
    ],
    ['coffer transit keys public release --format minisign --out release.pub', 'Write a minisign public key'],
    ['coffer transit keys public inbox --format age', 'Print an age recipient, for "age -r" or --recipient'],
  ],
  async run(session, { arguments: [name = ''], options }) {
    const format = textOption(options, FORMAT) ?? 'pem';
    const form = Object.hasOwn(FORMS, format) ? FORMS[format] : undefined;
    if (form === undefined) {
      throw invalid(`invalid format "${format}"`, {
        field: `--${FORMAT}`,
        hint: `use one of ${Object.keys(FORMS).join(', ')}`,
      });
    }
    const number = numberOption(options, VERSION, /^[1-9]\d{0,8}$/, 'use a version number');
    const identity = textOption(options, IDENTITY) ?? name;
    if (/[\s"]/.test(identity))
      throw invalid('the identity cannot contain spaces or quotation marks', { field: `--${IDENTITY}` });
    const place = await outPlaceOf(session, options);
    const versions = await publicVersions(await session.runner(), name);
    const wanted = form.all && number === undefined ? versions : [versionOf(versions, number)];
    const named = { name, mount: session.settings.mount, identity };
    const data = { name, format, public_key: wanted.map((version) => form.print(version, named)).join('') };
    const shape = { result: { member: 'public_key', as: form.binary ? 'base64' : 'text' } } as const;
    await printResult(session, data, shape, { file: place, keepBase64: false });
  },
};
