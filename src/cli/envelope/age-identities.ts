import { createPublicKey } from 'node:crypto';
import { asCofferError, CofferError, invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { recipientKey, unwrapStanzas } from '../../operations/age-keys.ts';
import { type Runner, resultOf } from '../../operations/declaration/operation.ts';
import { sshBlob } from '../../signatures/ssh-key.ts';
import type { Stanza } from '../../transit/envelope/age/header.ts';
import { passphraseIdentity, SCRYPT } from '../../transit/envelope/age/passphrase.ts';
import { pluginIdentity, pluginOfIdentity } from '../../transit/envelope/age/plugin.ts';
import { type AgeIdentity, ageIdentity } from '../../transit/envelope/age/recipients.ts';
import { sshIdentity } from '../../transit/envelope/age/ssh.ts';
import type { KeyReference } from '../../transit/envelope/ports.ts';
import { inputText } from '../files/input.ts';
import { type Given, textOption, textsOption } from '../given.ts';
import { IN } from '../parse/operation-spec.ts';
import { pluginHost } from '../secrets/plugins.ts';
import { passphraseIn, readKeyFile } from '../secrets/secret-sources.ts';
import { sshPrivateKeyIn } from '../secrets/ssh-private-keys.ts';
import type { Session } from '../session.ts';
import { IDENTITY, PASSPHRASE_FILE } from './age-options.ts';
import { typeText } from './age-recipients.ts';
import { once } from './options.ts';

/**
 * Returns the identities that may open files: the private keys of `--identity`, the named key or else every key of the
 * store that can be an age recipient, and the passphrase if a file has one.
 * @param name key that the user named
 */
export async function identitiesOf(
  session: Session,
  options: Given['options'],
  name: string | undefined,
): Promise<readonly AgeIdentity[]> {
  const identities: AgeIdentity[] = [];
  const files = textsOption(options, IDENTITY);
  for (const path of files) identities.push(...(await identitiesIn(session, path)));
  // After those of the files: a plugin may know the passphrase.
  identities.push(passphraseIdentity(oncePassphrase(session, options)));
  if (name !== undefined || files.length === 0) identities.push(storeIdentity(session, name));
  return identities;
}

const oncePassphrase = (session: Session, options: Given['options']): (() => Promise<string | Uint8Array>) =>
  once(async () => {
    const file = textOption(options, PASSPHRASE_FILE);
    if (file !== undefined) return passphraseIn(file, `--${PASSPHRASE_FILE}`);
    if (session.prompts.available()) return session.prompts.secret(`Passphrase for ${namedInput(options)}`);
    throw new CofferError('sealed', 'the file is encrypted with a passphrase: cannot prompt for it', {
      hint: `use --${PASSPHRASE_FILE}`,
    });
  });

/** Names the input in a prompt; several files are tried with the same passphrase. */
function namedInput(options: Given['options']): string {
  const [only = '-', ...others] = textsOption(options, IN);
  if (others.length > 0) return 'the files';
  return only === '-' ? 'standard input' : only;
}

/**
 * Reads the private keys of a file: an SSH key, or lines of age identities.
 * @throws `invalid` or `unavailable` if it cannot be read
 */
async function identitiesIn(session: Session, path: string): Promise<readonly AgeIdentity[]> {
  const text = inputText(readKeyFile(path, `--${IDENTITY}`), `--${IDENTITY}`);
  if (text.includes('-----BEGIN ')) return [await sshIdentityIn(session, path, text)];
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line));
  if (lines.length > 0 && lines.every((line) => /^\s*AGE-(?:SECRET-KEY|PLUGIN)-/i.test(line))) {
    return lines.map((line) => identityOfLine(session, line.trim()));
  }
  throw invalid(`no private key in ${path}`, {
    field: `--${IDENTITY}`,
    hint: 'use a file with AGE-SECRET-KEY- or AGE-PLUGIN- lines, or with one SSH private key',
  });
}

function identityOfLine(session: Session, line: string): AgeIdentity {
  const plugin = pluginOfIdentity(line);
  return plugin === undefined
    ? ageIdentity(line)
    : pluginIdentity(plugin, line.toUpperCase(), pluginHost(session));
}

async function sshIdentityIn(session: Session, path: string, text: string): Promise<AgeIdentity> {
  const key = await sshPrivateKeyIn(session, path, text);
  return sshIdentity(key, sshBlob(createPublicKey(key)));
}

/**
 * Returns an identity of the keys in the store or on the server, with all their versions. Stanzas are unwrapped there,
 * so keys never leave it.
 */
function storeIdentity(session: Session, name: string | undefined): AgeIdentity {
  return {
    async unwrap(stanzas) {
      const runner = await session.runner();
      const { mount } = session.settings;
      if (name !== undefined) return unwrapWith(runner, { name, mount }, stanzas, true);
      for (const candidate of await keyNames(runner, mount)) {
        const fileKey = await unwrapWith(runner, { name: candidate, mount }, stanzas, false);
        if (fileKey !== undefined) return fileKey;
      }
      return undefined;
    },
  };
}

async function keyNames(runner: Runner, mount: string): Promise<readonly string[]> {
  const data = resultOf(await runner.run('transit keys list', {}, mount));
  const keys = isObject(data) && Array.isArray(data['keys']) ? data['keys'] : [];
  return keys.filter((key: unknown) => typeof key === 'string');
}

/**
 * Unwraps with one key.
 * @param isWanted whether the user named this key; if so, it is an error if the key cannot be used
 */
async function unwrapWith(
  runner: Runner,
  { name, mount }: KeyReference,
  stanzas: readonly Stanza[],
  isWanted: boolean,
): Promise<Buffer | undefined> {
  try {
    const { type: keyType, versions } = await recipientKey(runner, name, mount);
    if (versions.length === 0 && isWanted && stanzas.every(({ type }) => type !== SCRYPT)) {
      throw new CofferError('unsupported', `key "${name}" cannot decrypt age files: ${typeText(keyType)}`, {
        field: 'name',
        hint: 'omit the name to try all keys',
      });
    }
    return await unwrapStanzas(runner, { name, mount, versions }, stanzas);
  } catch (error) {
    const kind = asCofferError(error)?.kind;
    const isPassedOver = !isWanted && (kind === 'denied' || kind === 'not-found' || kind === 'unsupported');
    if (!isPassedOver) throw error;
  }
  return undefined;
}
