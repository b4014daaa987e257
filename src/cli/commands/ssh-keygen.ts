import { createHash, type KeyObject } from 'node:crypto';
import { invalid, unsupported } from '../../ground/errors.ts';
import { isSameKey } from '../../ground/foreign-keys.ts';
import {
  type AllowedSigner,
  maySign,
  parseAllowedSigners,
  parseSshTime,
  principalsOf,
  signerKey,
} from '../../signatures/allowed-signers.ts';
import { parseRevokedKeys, parseSshLine, sshFingerprint, sshKeyTitle } from '../../signatures/ssh-key.ts';
import { parseSshSignature, type SshSignature, verifySshSignature } from '../../signatures/ssh-signature.ts';
import { type Command, type OptionSpec, switching } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { readFileWhole } from '../files/in-file.ts';
import { inputText, MAX_INPUT_BYTES, readShortText, readStandardInput } from '../files/input.ts';
import { writeOutFile } from '../files/out-file.ts';
import { type Given, textOption } from '../given.ts';
import type { Session } from '../session.ts';
import { FORMATS } from '../signatures/formats.ts';
import { signerOf } from '../signatures/named-keys.ts';

/*
 * The part of ssh-keygen(1) that git uses through `gpg.ssh.program`: it signs and verifies, with keys of the store
 * instead of files. Output, options and exit codes, which git reads, are those of ssh-keygen.
 */

const REFUSED = 255;
const MAX_TEXT_BYTES = 1 << 24;
const MAX_WARNINGS = 10;
/** First bytes of OpenSSH's binary key revocation lists (PROTOCOL.krl). */
const KRL = 'SSHKRL\n\0';

const short = (letter: string, flag: string, help: string): OptionSpec => ({
  flag,
  short: letter,
  takes: 'value',
  metavar: flag.toUpperCase(),
  help,
});

export const command: Command = {
  arguments: [{ metavar: 'FILE', help: 'File to sign.', required: false, offers: 'file' }],
  options: [
    short('Y', 'action', 'Action: sign, verify, find-principals or check-novalidate.'),
    short('n', 'namespace', 'Namespace of the signature.'),
    short(
      'f',
      'file',
      'sign: output of "coffer transit keys public NAME --format ssh"; otherwise the allowed signers.',
    ),
    short('s', 'signature', 'Signature file.'),
    short('I', 'identity', 'Expected signer, as listed in the allowed signers.'),
    short('r', 'revoked', 'Revoked public keys, one per line.'),
    short('O', 'setting', 'Setting: verify-time=TIME, the time to verify at.'),
    switching('agent', 'Accepted and ignored: private keys are never in files.', { short: 'U' }),
  ],
  examples: [
    ['git config gpg.ssh.program coffer-ssh-keygen', 'Run "coffer ssh-keygen" for git from a script'],
  ],
  async run(session, given) {
    const action = textOption(given.options, 'action') ?? '';
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (run === undefined) {
      throw unsupported(`ssh-keygen -Y ${action} is not supported`, { hint: "use OpenSSH's ssh-keygen" });
    }
    return run(session, given);
  },
};

const ACTIONS: Readonly<Record<string, (session: Session, given: Given) => number | Promise<number>>> = {
  sign,
  verify(session, given) {
    const identity = required(given, 'identity');
    const signature = signatureOf(given);
    const { key } = signature;
    const question = { key: signerKey(key), namespace: signature.namespace, at: timeOf(given) };
    const isAllowed =
      signersOf(session, given).some((signer) => maySign(signer, identity, question)) &&
      !isRevoked(given, key);
    if (!isAllowed || !holds(session, given, signature)) return refused(session);
    say(session, `Good "${signature.namespace}" signature for ${identity} with ${kindOf(signature)}`);
    return DONE;
  },
  'find-principals'(session, given) {
    const { key } = signatureOf(given);
    const found = principalsOf(signersOf(session, given), { key: signerKey(key), at: timeOf(given) });
    if (found.length === 0) return refused(session, 'No principal matched.');
    for (const principals of found) say(session, principals);
    return DONE;
  },
  'check-novalidate'(session, given) {
    const signature = signatureOf(given);
    if (!holds(session, given, signature)) return refused(session);
    say(session, `Good "${signature.namespace}" signature with ${kindOf(signature)}`);
    return DONE;
  },
};

/** Comment that `transit keys public --format ssh` writes. */
const COMMENT = /^coffer:(\S+)\/([^/\s]+):v(\d+)$/;

async function sign(session: Session, given: Given): Promise<number> {
  const [file] = given.arguments;
  if (file === undefined) throw invalid('no file to sign', { field: 'FILE' });
  const line = parseSshLine(textOf(required(given, 'file'), 'file'));
  const [, mount, name, version] = COMMENT.exec(line?.comment ?? '') ?? [];
  if (line === undefined || mount === undefined || name === undefined) {
    throw invalid('this is not the public key of a named key', {
      field: 'file',
      hint: 'run: git config user.signingKey "key::$(coffer transit keys public NAME --format ssh)"',
    });
  }
  const signer = await signerOf(await session.runner(), name, Number(version), mount);
  if (!isSameKey(signer.version.key, line.key)) {
    throw invalid(`the public key does not match version ${version} of ${name}`, { field: 'file' });
  }
  const format = FORMATS['ssh'];
  if (format === undefined) throw unsupported('unknown signature format');
  const digest = createHash(format.hash)
    .update(readFileWhole(file, 'FILE', MAX_INPUT_BYTES))
    .digest();
  const about = { fileName: file, namespace: required(given, 'namespace'), comment: undefined, at: 0 };
  const signature = await format.sign(signer, digest, about);
  await writeOutFile({ path: `${file}${format.ending}`, replace: true }, signature);
  return DONE;
}

function required({ options }: Given, flag: string): string {
  const text = textOption(options, flag);
  if (text === undefined || text === '') throw invalid(`missing required option --${flag}`);
  return text;
}

const textOf = (path: string, field: string): string => readShortText(path, field, MAX_TEXT_BYTES);

const signatureOf = (given: Given): SshSignature =>
  parseSshSignature(textOf(required(given, 'signature'), 'signature'));

function signersOf(session: Session, given: Given): readonly AllowedSigner[] {
  const { signers, broken } = parseAllowedSigners(textOf(required(given, 'file'), 'file'));
  for (const { why } of broken.slice(0, MAX_WARNINGS)) session.warn(`allowed signers: ${why}`);
  return signers;
}

/** Whether the revocation list that git calls `gpg.ssh.revocationFile` contains the key. */
function isRevoked({ options }: Given, key: KeyObject): boolean {
  const path = textOption(options, 'revoked');
  if (path === undefined) return false;
  const bytes = readFileWhole(path, 'revoked', MAX_TEXT_BYTES);
  if (bytes.subarray(0, KRL.length).toString('latin1') === KRL) {
    throw unsupported('binary key revocation lists (KRLs) are not supported', {
      field: 'revoked',
      hint: 'use a file of public keys, one per line',
    });
  }
  return parseRevokedKeys(inputText(bytes, 'revoked')).some((revoked) => revoked.equals(key));
}

/** Returns the current time, or the commit time that git passes. */
function timeOf({ options }: Given): number {
  const setting = textOption(options, 'setting');
  const time = setting?.startsWith('verify-time=')
    ? parseSshTime(setting.slice('verify-time='.length))
    : Date.now();
  if (time === undefined) throw invalid(`invalid option "${setting}"`, { field: '-O' });
  return time;
}

/** Whether the signature is that of standard input, for the requested namespace. */
function holds(session: Session, given: Given, signature: SshSignature): boolean {
  if (signature.namespace !== required(given, 'namespace')) return false;
  const message = readStandardInput(session);
  return verifySshSignature(signature, createHash(signature.hash).update(message).digest());
}

/** Formats a key as ssh-keygen does: `ED25519 key SHA256:…`. */
const kindOf = ({ key }: SshSignature): string => `${sshKeyTitle(key)} key ${sshFingerprint(key)}`;

const say = (session: Session, line: string): void => session.streams.out.write(`${line}\n`);

function refused(session: Session, why = 'Could not verify signature.'): number {
  session.streams.err.write(`${why}\n`);
  return REFUSED;
}
