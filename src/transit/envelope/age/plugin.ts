import { asCofferError, type CofferError, unavailable } from '../../../ground/errors.ts';
import { parseBech32 } from '../../key-types/age/bech32.ts';
import type { Conversation } from './conversation.ts';
import { FILE_KEY_BYTES, type Stanza } from './header.ts';
import type { AgeIdentity, RecipientGroup, WrappingProgram } from './recipients.ts';

/**
 * The client's half of the protocol between age and its plugins (C2SP, age-plugin.md): programs that wrap and unwrap
 * file keys, such as for keys in hardware.
 */

/** Name of our own plugin, whose keys are in a store: its recipients have their names, and no public keys. */
export const STORE_PLUGIN = 'coffer';
const PLUGIN_NAME = /^[a-z0-9+._-]+$/;
const RECIPIENT_PREFIX = 'age1';
const IDENTITY_PREFIX = 'age-plugin-';
/** Maximum number of stanzas that a plugin may wrap one file key in: more than any hardware has keys. */
const MAX_STANZAS = 64;
/** Maximum number of messages of one plugin: more than a user would read. */
const MAX_REQUESTS = 1000;
const MAX_TEXT_CHARACTERS = 500;
/** Label of recipients that resist quantum computers; only those with the same labels may share a file. */
const POST_QUANTUM = 'postquantum';

/** Prompts of a plugin for the user. Its texts may contain anything. */
export interface PluginQuestions {
  message(text: string): void;
  /**
   * Asks for one of two answers.
   * @param no undefined if there is only one
   * @returns undefined if the user cannot be asked
   */
  confirm(text: string, yes: string, no: string | undefined): Promise<boolean | undefined>;
  /**
   * Asks for a text, such as a PIN.
   * @returns undefined if the user cannot be asked
   */
  ask(text: string): Promise<string | undefined>;
}

/** Starts a plugin. */
export interface PluginHost {
  /**
   * Runs `talk` with a started plugin, and ends it afterwards.
   * @param name of the plugin, without `age-plugin-`
   * @param machine state machine of the protocol
   * @throws `unavailable` if it cannot be started, or does not answer in time
   */
  run<T>(
    name: string,
    machine: 'recipient-v1' | 'identity-v1',
    talk: (conversation: Conversation, questions: PluginQuestions) => Promise<T>,
  ): Promise<T>;
}

/**
 * Returns the name of the plugin of a recipient, `age1NAME1…`.
 * @returns undefined for other text
 * @throws `invalid` if it is mistyped
 */
export function pluginOfRecipient(text: string): string | undefined {
  if (!/^age1[^1]/i.test(text)) return undefined;
  const { prefix } = parseBech32(text);
  return prefix.startsWith(RECIPIENT_PREFIX) ? nameIn(prefix.slice(RECIPIENT_PREFIX.length)) : undefined;
}

/**
 * Returns the name of the plugin of an identity, `AGE-PLUGIN-NAME-1…`.
 * @returns undefined for other text
 * @throws `invalid`, without the text in it, if it is mistyped
 */
export function pluginOfIdentity(text: string): string | undefined {
  if (!/^AGE-PLUGIN-/i.test(text)) return undefined;
  const { prefix } = parseBech32(text);
  const ends = prefix.startsWith(IDENTITY_PREFIX) && prefix.endsWith('-');
  return ends ? nameIn(prefix.slice(IDENTITY_PREFIX.length, -1)) : undefined;
}

const nameIn = (text: string): string | undefined => (PLUGIN_NAME.test(text) ? text : undefined);

/**
 * Returns the recipient of a plugin.
 * @param text `age1NAME1…`, or the identity of a plugin, which some of them can encrypt to
 */
export const pluginRecipient = (name: string, text: string, host: PluginHost): WrappingProgram => ({
  async wrapAll(fileKey) {
    return host.run(name, 'recipient-v1', async (conversation, questions) => {
      const kind = pluginOfIdentity(text) === undefined ? 'recipient' : 'identity';
      conversation.send(`add-${kind}`, [text]);
      conversation.send('wrap-file-key', [], fileKey);
      conversation.send('extension-labels');
      conversation.send('done');
      const stanzas: Stanza[] = [];
      let group: RecipientGroup = 'classical';
      const failure = await converse(name, conversation, questions, ({ type, args, body }) => {
        if (type === 'labels') {
          group = groupOf(args);
          return true;
        }
        if (type !== 'recipient-stanza') return false;
        const [index, stanza, ...values] = args;
        if (index !== '0' || stanza === undefined || stanzas.length === MAX_STANZAS) throw brokenOff(name);
        stanzas.push({ type: stanza, args: values, body });
        return true;
      });
      if (failure !== undefined) throw failure;
      if (stanzas.length === 0) throw brokenOff(name);
      return { stanzas, group };
    });
  },
});

function groupOf(labels: readonly string[]): RecipientGroup {
  if (labels.length === 0) return 'classical';
  return labels.length === 1 && labels[0] === POST_QUANTUM
    ? 'post-quantum'
    : `labels ${labels.toSorted().join(' ')}`;
}

/** Returns the identity of a plugin. */
export const pluginIdentity = (name: string, text: string, host: PluginHost): AgeIdentity => ({
  async unwrap(stanzas) {
    return host.run(name, 'identity-v1', async (conversation, questions) => {
      conversation.send('add-identity', [text]);
      for (const { type, args, body } of stanzas) {
        conversation.send('recipient-stanza', ['0', type, ...args], body);
      }
      conversation.send('done');
      let fileKey: Buffer | undefined;
      const failure = await converse(name, conversation, questions, ({ type, args, body }) => {
        if (type !== 'file-key') return false;
        if (args[0] !== '0' || body.length !== FILE_KEY_BYTES || fileKey !== undefined) throw brokenOff(name);
        fileKey = body;
        return true;
      });
      if (fileKey === undefined && failure !== undefined) throw failure;
      return fileKey;
    });
  },
});

/**
 * Answers a plugin until it is done.
 * @param take takes a result; returns whether it knows this type
 * @returns the first error that the plugin reports
 * @throws `unavailable` if it does not keep to the protocol
 */
async function converse(
  name: string,
  conversation: Conversation,
  questions: PluginQuestions,
  take: (stanza: Stanza) => boolean,
): Promise<CofferError | undefined> {
  let failure: CofferError | undefined;
  for (let requests = 0; requests < MAX_REQUESTS; requests++) {
    const stanza = await conversation.next().catch((error: unknown) => {
      throw asCofferError(error) === undefined ? error : brokenOff(name);
    });
    const { type, args, body } = stanza;
    if (type === 'done') return failure;
    if (type === 'error') {
      failure ??= reported(name, body);
      conversation.send('ok');
    } else if (take(stanza)) conversation.send('ok');
    else await answer(conversation, questions, { type, args, body });
  }
  throw brokenOff(name);
}

async function answer(
  conversation: Conversation,
  questions: PluginQuestions,
  { type, args, body }: Stanza,
): Promise<void> {
  const text = readable(body);
  if (type === 'msg') {
    questions.message(text);
    conversation.send('ok');
  } else if (type === 'confirm') {
    const [yes = '', no] = args.map((word) => readable(Buffer.from(word, 'base64')));
    const isYes = await questions.confirm(text, yes, no);
    if (isYes === undefined) conversation.send('fail');
    else conversation.send('ok', [isYes ? 'yes' : 'no']);
  } else if (type === 'request-secret' || type === 'request-public') {
    const given = await questions.ask(text);
    if (given === undefined) conversation.send('fail');
    else conversation.send('ok', [], given);
  } else conversation.send('unsupported');
}

const readable = (bytes: Buffer): string => bytes.toString('utf8').slice(0, MAX_TEXT_CHARACTERS);

const reported = (name: string, body: Buffer): CofferError => failed(name, readable(body));

/** Returns the error of a plugin that said why it failed. */
export const failed = (name: string, why: string): CofferError =>
  unavailable(`age-plugin-${name} failed: ${why.replace(/\s+/g, ' ').trim() || 'no reason given'}`, {
    hint: 'check the device or service that the plugin uses, and try again',
  });

/** A plugin that ended early or sent something that the protocol does not have. */
export const BROKEN_OFF = 'exited early or sent an invalid response';

/** Returns the error for a plugin that ended early or broke the protocol. */
export const brokenOff = (name: string): CofferError =>
  unavailable(`age-plugin-${name} ${BROKEN_OFF}`, {
    hint: 'update the plugin, or try the same with age itself',
  });
