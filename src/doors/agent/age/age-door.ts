import type { Offer } from '../../../access/doors.ts';
import { wipe } from '../../../ground/bytes.ts';
import { asCofferError, type CofferError, denied, expected, invalid } from '../../../ground/errors.ts';
import { madeOnce } from '../../../ground/objects.ts';
import { recipientVersions, sealedForKey, unwrapStanzas } from '../../../operations/age-keys.ts';
import { Conversation } from '../../../transit/envelope/age/conversation.ts';
import { FILE_KEY_BYTES, type Stanza } from '../../../transit/envelope/age/header.ts';
import { ageRecipient, type Recipient } from '../../../transit/envelope/age/recipients.ts';
import type { OpenDoor } from '../agent-door.ts';
import { hungUpSignal } from '../connections.ts';
import { type Desk, offerCommand } from '../desk.ts';
import { type KeyName, parsePluginIdentity, parsePluginRecipient } from './names.ts';

/** State machines of age plugins, by the names with which age starts them. */
export const MACHINES = ['recipient-v1', 'identity-v1'] as const;

/** Maximum number of recipients or identities. */
const MOST = 4096;
/** Maximum number of identities or recipients, times files: age asks about one file at a time. */
const MOST_TRIES = 4096;
const POST_QUANTUM = 'postquantum';

/**
 * Serves the plugin protocol of age. The program that age starts (`age-plugin-coffer`) connects here, sends the name of
 * the state machine as its first line, and then copies bytes between age and this connection. A recipient is the public
 * key of a named key; an identity names the key. Stanzas have age's own formats, so files can be written and opened
 * with and without the plugin.
 */
export const openAgeDoor: OpenDoor = (desk) => (connection) => {
  connection.on('error', () => undefined);
  const gone = hungUpSignal(connection);
  const conversation = new Conversation(connection);
  const work = async (): Promise<void> => {
    const machine = await conversation.line();
    await runMachine(conversation, machine, desk, gone);
  };
  work().catch((error: unknown) => {
    if (asCofferError(error) === undefined) desk.defect(error);
    connection.destroy();
  });
};

/**
 * Runs one of the state machines to its end.
 * @throws `invalid` if the peer violates the protocol
 */
export async function runMachine(
  conversation: Conversation,
  machine: string,
  desk: Desk,
  gone: AbortSignal,
): Promise<void> {
  if (machine === 'recipient-v1') await wrapFileKeys(conversation, desk);
  else if (machine === 'identity-v1') await unwrapFileKeys(conversation, desk, gone);
  else throw invalid('unknown plugin state machine');
  conversation.end();
}

/** Recipient or identity of a file, as named by the peer. */
interface NamedStanza {
  readonly what: 'recipient' | 'identity';
  readonly text: string;
  /** Index, counted separately for the two. */
  readonly index: number;
}

async function wrapFileKeys(conversation: Conversation, desk: Desk): Promise<void> {
  const named: NamedStanza[] = [];
  const fileKeys: Buffer[] = [];
  let wantsLabels = false;
  await told(conversation, ({ type, args: [text = ''], body }) => {
    const what = ADDING[type];
    if (what !== undefined) {
      named.push({ what, text, index: named.filter((other) => other.what === what).length });
    }
    if (type === 'wrap-file-key') fileKeys.push(fileKey(body));
    if (type === 'extension-labels') wantsLabels = true;
    refuseMore(named.length + fileKeys.length);
  });
  refuseTries(named.length, fileKeys.length);
  const recipients: Recipient[] = [];
  for (const one of named) {
    await conversation.stillThere();
    const recipient = await orSay(conversation, one, () => recipientOf(desk, one));
    if (recipient !== undefined) recipients.push(recipient);
  }
  // After an error nothing is wrapped.
  if (recipients.length < named.length) return;
  const isQuantum = recipients.length > 0 && recipients.every(({ group }) => group === 'post-quantum');
  if (wantsLabels && isQuantum) await conversation.say('labels', [POST_QUANTUM]);
  for (const [index, key] of fileKeys.entries()) {
    for (const recipient of recipients) {
      const { type, args, body } = await recipient.wrap(key);
      await conversation.say('recipient-stanza', [String(index), type, ...args], body);
    }
    wipe(key);
  }
}

const ADDING: Readonly<Record<string, NamedStanza['what']>> = {
  'add-recipient': 'recipient',
  'add-identity': 'identity',
};

/** Returns the recipient of the key's latest version. */
async function recipientOf(desk: Desk, { what, text }: NamedStanza): Promise<Recipient> {
  const name = what === 'recipient' ? parsePluginRecipient(text) : parsePluginIdentity(text);
  const [offer] = await offersFor(desk, name);
  const { mount, key } = requiredOffer(offer, name);
  const latest = (await recipientVersions(desk, key, mount)).at(-1);
  if (latest === undefined) throw invalid(`key ${key} cannot be used with age`);
  return ageRecipient(latest.recipient);
}

async function unwrapFileKeys(conversation: Conversation, desk: Desk, gone: AbortSignal): Promise<void> {
  const named: NamedStanza[] = [];
  const files = new Map<string, Stanza[]>();
  let count = 0;
  await told(conversation, ({ type, args, body }) => {
    const [first = ''] = args;
    if (type === 'add-identity') named.push({ what: 'identity', text: first, index: named.length });
    if (type === 'recipient-stanza') {
      const [index = '', kind = '', ...rest] = args;
      madeOnce(files, index, () => []).push({ type: kind, args: rest, body });
    }
    count += 1;
    refuseMore(count);
  });
  refuseTries(named.length, files.size);
  for (const [index, stanzas] of files) {
    for (const one of named) {
      await conversation.stillThere();
      const found = await orSay(conversation, one, () =>
        unwrapped(conversation, desk, { named: one, stanzas, gone }),
      );
      if (found === undefined || found === 'none') continue;
      await conversation.say('file-key', [index], found);
      wipe(found);
      break;
    }
  }
}

interface UnwrapAttempt {
  readonly named: NamedStanza;
  readonly stanzas: readonly Stanza[];
  readonly gone: AbortSignal;
}

async function unwrapped(
  conversation: Conversation,
  desk: Desk,
  { named: { text }, stanzas, gone }: UnwrapAttempt,
): Promise<Buffer | 'none'> {
  const name = parsePluginIdentity(text);
  const offers = await offersFor(desk, name);
  if (name !== undefined) requiredOffer(offers[0], name);
  for (const offer of offers) {
    const { key, mount } = offer;
    await conversation.stillThere();
    const versions = await recipientVersions(desk, key, mount);
    // Do not ask the user about a key that could not open the file anyway.
    if ((await sealedForKey(versions, stanzas)).length === 0) continue;
    await desk.consent(offer, 'decrypt a file', gone);
    const found = await unwrapStanzas(desk, { name: key, mount, versions }, stanzas);
    if (found !== undefined) return found;
  }
  return 'none';
}

const offersFor = async (desk: Desk, name: KeyName | undefined): Promise<readonly Offer[]> =>
  (await desk.offers()).filter(
    ({ mount, key }) => name === undefined || (mount === name.mount && key === name.key),
  );

function requiredOffer(offer: Offer | undefined, name: KeyName | undefined): Offer {
  if (offer !== undefined) return offer;
  if (name === undefined)
    throw denied('no key is offered to age', { hint: 'run "coffer agent offer NAME --age"' });
  throw denied('this key is not offered to age', { hint: `run "${offerCommand('age', name)}"` });
}

/** Reads all stanzas up to `done`; unknown ones of newer clients are ignored. */
async function told(conversation: Conversation, take: (stanza: Stanza) => void): Promise<void> {
  for (;;) {
    const stanza = await conversation.next();
    if (stanza.type === 'done') return;
    take(stanza);
  }
}

function refuseMore(count: number): void {
  if (count > MOST) throw invalid('too many recipients, identities or stanzas at once');
}

function refuseTries(named: number, files: number): void {
  if (named * files > MOST_TRIES) throw invalid('too many keys and files at once');
}

function fileKey(body: Buffer): Buffer {
  if (body.length !== FILE_KEY_BYTES) throw invalid(`a file key must have ${FILE_KEY_BYTES} bytes`);
  return body;
}

/**
 * Reports an error of a recipient or identity to the peer. Errors of the store are reported as errors of the plugin.
 */
async function orSay<T>(
  conversation: Conversation,
  { what, index }: NamedStanza,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const known = expected(error);
    const about = OF_NAMED.has(known.kind) ? [what, String(index)] : ['internal'];
    await conversation.say('error', about, said(known));
    return undefined;
  }
}

const OF_NAMED: ReadonlySet<string> = new Set(['invalid', 'denied', 'not-found', 'unsupported']);

const said = ({ message, hint }: CofferError): string =>
  hint === undefined ? message : `${message} (${hint})`;
