import { CofferError, expected, invalid } from '../../ground/errors.ts';
import { parseSshLine, sshBlob } from '../../signatures/ssh-key.ts';
import { sshLineOf } from '../../team/recipients.ts';
import { pluginOfIdentity, pluginOfRecipient, pluginRecipient } from '../../transit/envelope/age/plugin.ts';
import { type AnyRecipient, ageRecipient, isOwnRecipient } from '../../transit/envelope/age/recipients.ts';
import { sshRecipient } from '../../transit/envelope/age/ssh.ts';
import { readFileWhole } from '../files/in-file.ts';
import { inputText } from '../files/input.ts';
import type { Session } from '../session.ts';
import { pluginHost } from './plugins.ts';

const RECIPIENT = 'recipient';
/** Maximum size of a file of recipients, in bytes, as in age. */
const MAX_FILE_BYTES = 16 * 2 ** 20;

/** Public key that can be encrypted to. */
export interface NamedRecipient {
  /** The key in its usual form, without a comment. */
  readonly text: string;
  readonly recipient: AnyRecipient;
}

/**
 * Parses a recipient.
 * @returns undefined if it can only be the name of a key
 */
export function textRecipient(session: Session, text: string): NamedRecipient | undefined {
  if (/^AGE-SECRET-KEY-/i.test(text)) {
    throw invalid('this is a private key, not a recipient', {
      field: RECIPIENT,
      hint: 'use its public key, age1…',
    });
  }
  const plugin = pluginOfIdentity(text) ?? (isOwnRecipient(text) ? undefined : pluginOfRecipient(text));
  if (plugin !== undefined) return ofPlugin(session, plugin, text);
  if (/^age1/i.test(text)) return { text: text.toLowerCase(), recipient: ageRecipient(text) };
  const ssh = parseSshLine(text);
  return ssh && { text: sshLineOf(ssh.key), recipient: sshRecipient(ssh.key, sshBlob(ssh.key)) };
}

function ofPlugin(session: Session, plugin: string, text: string): NamedRecipient {
  const isIdentity = pluginOfIdentity(text) !== undefined;
  const spelled = isIdentity ? text.toUpperCase() : text.toLowerCase();
  return {
    // An identity may hold a secret of the plugin's.
    text: isIdentity ? `age-plugin-${plugin}` : spelled,
    recipient: pluginRecipient(plugin, spelled, pluginHost(session)),
  };
}

/** Parses a file of recipients as age does: one per line, with blank lines and `#` comments. */
export function fileRecipients(session: Session, path: string): readonly NamedRecipient[] {
  const text = inputText(readFileWhole(path, RECIPIENT, MAX_FILE_BYTES), RECIPIENT);
  const found = text.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return [];
    try {
      const recipient = textRecipient(session, line.trim());
      if (recipient !== undefined) return [recipient];
    } catch (error) {
      const known = expected(error);
      const { kind, message, hint } = known;
      throw new CofferError(kind, `${path}:${index + 1}: ${message}`, { field: RECIPIENT, hint });
    }
    const isPem = /^-----BEGIN /.test(line);
    throw invalid(
      isPem ? `${path} has a key in PEM, not a recipient` : `${path}:${index + 1}: not a recipient`,
      {
        field: RECIPIENT,
        hint: 'use one age1… recipient or SSH public key per line',
      },
    );
  });
  if (found.length > 0) return found;
  throw invalid(`no recipient in ${path}`, { field: RECIPIENT });
}
