import { exists, invalid, notFound } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import { type CardFact, type Fact, NoFact, parseFact } from '../../team/fact.ts';
import { loadFacts, putFile } from '../../team/files.ts';
import { keyNames } from '../../team/judge/judge.ts';
import { isKeyName, isName, spelled } from '../../team/names.ts';
import { judgeRecipient } from '../../team/recipients.ts';
import { freshIdentity, recipientOfIdentity } from '../../transit/envelope/age/recipients.ts';
import type { ArgumentSpec, Command } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { readFileWhole } from '../files/in-file.ts';
import { inputText } from '../files/input.ts';
import { printDocument } from '../files/output.ts';
import { type Given, textOption } from '../given.ts';
import { switching, taking } from '../parse/everywhere.ts';
import { otherKeyringsOf, rewrapRuled } from '../secret-files/ruled-files.ts';
import type { Session } from '../session.ts';
import { grant, newEpoch, newVersion, settleKeys } from '../team/acts.ts';
import { Changes, sayOnlyWay } from '../team/changes.ts';
import { type Keyring, openKeyring } from '../team/keyring.ts';
import { TeamMemory } from '../team/memory.ts';
import type { KeyringPlace } from '../team/place.ts';
import { factsElsewhere } from '../team/witness.ts';
import { identityIn, identityOption, keyringHere } from './team.ts';

/* Commands that change a keyring. */

const nameArgument: ArgumentSpec = {
  metavar: 'NAME',
  help: 'What somebody is called here, e.g. bob.',
  required: true,
};
const keyArgument: ArgumentSpec = {
  metavar: 'KEY',
  help: 'What the key is called, e.g. app.',
  required: true,
};

const NEW = 'new';
const ADMIN = 'admin';

export const add: Command = {
  arguments: [
    nameArgument,
    {
      metavar: 'RECIPIENT',
      help: 'The public half of a key: age1…, a line of an SSH .pub file, or @FILE with such lines.',
      required: false,
    },
  ],
  options: [
    switching(ADMIN, 'May change the team and its keys as well; with an ssh-ed25519 key.'),
    { ...switching(NEW, 'Make a key for it, and print its private half once.'), excludes: [ADMIN] },
    identityOption,
  ],
  details:
    'Lets somebody in, who then opens all that ever was encrypted in the repository. A user opens and encrypts; an admin changes the team, too. ' +
    'With --new, for a pipeline or for paper, the printed text is what COFFER_IDENTITY holds there.',
  examples: [
    ['coffer team add bob "$(cat bob.pub)" --admin', 'A colleague who changes the team, too'],
    ['coffer team add ci --new', 'A pipeline: its output goes into a secret called COFFER_IDENTITY'],
  ],
  async run(session, { arguments: [name = '', given], options }) {
    if (!isName(name))
      throw invalid(`nobody can be called ${JSON.stringify(name)} here`, {
        field: 'NAME',
        hint: 'small letters, digits and dashes',
      });
    const fresh = options.has(NEW) ? freshIdentity(systemRandom) : undefined;
    if ((fresh === undefined) === (given === undefined)) {
      throw invalid('whose key is it?', {
        field: 'RECIPIENT',
        hint: 'give a public key, or say --new to have one made',
      });
    }
    const recipient = fresh === undefined ? recipientFrom(given ?? '') : recipientOfIdentity(fresh);
    const isAdmin = options.has(ADMIN);
    if (isAdmin && !recipient.startsWith('ssh-ed25519 '))
      throw invalid('an admin signs, with an ssh-ed25519 key', { field: 'RECIPIENT' });
    const keyring = await openKeyring(session, {
      place: keyringHere(session),
      isChange: true,
      identity: identityIn(options),
    });
    const isThere = keyring.state.cards.some(({ card }) => card.name === name);
    if (isThere && !session.settings.yes && !session.prompts.available()) {
      throw exists(`${name} is in already`, {
        hint: 'say --yes for a second card, and then "coffer team remove NAME --card ID" of the old one',
      });
    }
    if (
      isThere &&
      !(await session.confirmed(async () => `${name} is in already. Add a second card, for another key?`))
    )
      return FAILED;
    const changes = await Changes.begin(session, keyring);
    const role = isAdmin ? 'admin' : 'user';
    const fact = await grant(changes, {
      name,
      role,
      keys: [recipient],
      sign: isAdmin ? recipient : undefined,
    });
    const id = spelled(changes.newestId);
    session.say(
      `${name} can open the secrets${isAdmin ? ' and change the team' : ''}: all that ever were in this repository.`,
    );
    if (fresh !== undefined) session.streams.out.write(`# at least: ${id}\n${fresh}\n`);
    else {
      await printDocument(session, { id: fact.id, name, role, trust: id });
      session.say(`Tell ${name}, not by the repository:  coffer team trust ${id}`);
    }
    return DONE;
  },
};

/**
 * Reads a public key.
 * @throws `invalid` if it is not a public key, or if there are several
 */
function recipientFrom(text: string): string {
  const all = text.startsWith('@')
    ? inputText(readFileWhole(text.slice(1), 'RECIPIENT', 1 << 20), 'RECIPIENT')
    : text;
  const lines = all
    .split(/\r?\n/)
    .map((line) =>
      line
        .trim()
        .split(/[ \t]+/)
        .slice(0, 2)
        .join(' '),
    )
    .filter((line) => line !== '' && !line.startsWith('#'));
  const good = lines.filter((line) => judgeRecipient(line) === 'good');
  const [only, other] = lines.length > 1 ? good.filter((line) => !line.startsWith('ssh-rsa ')) : good;
  if (only !== undefined && other === undefined) return only;
  throw invalid(
    only === undefined ? 'this is no public key that can be encrypted to' : 'which of these keys is meant?',
    {
      field: 'RECIPIENT',
      hint: only === undefined ? 'give age1…, ssh-ed25519 … or ssh-rsa …' : 'give one line of them',
    },
  );
}

const CARD = 'card';

export const remove: Command = {
  arguments: [nameArgument],
  options: [
    taking(CARD, 'ID', 'Only this card of theirs, as "coffer team" shows it; e.g. of a key that is lost.'),
    identityOption,
  ],
  details:
    'Whoever leaves opens nothing that is encrypted from then on: there is a new root key, a new version of every key, and the files that ' +
    '.coffer.yaml names are encrypted anew. What they could read they may have kept: the values to be changed where they come from are listed. ' +
    'Interrupted, it goes on when it is said again.',
  examples: [
    ['coffer team remove bob', 'Somebody leaves'],
    ['coffer team remove bob --card 22sx08km', 'One key of somebody who stays'],
  ],
  async run(session, { arguments: [name = ''], options }) {
    const place = keyringHere(session);
    const keyring = await openKeyring(session, {
      place,
      isChange: true,
      removing: name,
      identity: identityIn(options),
    });
    const cards = cardsToRemove(keyring, name, textOption(options, CARD)?.replaceAll('-', ''));
    session.requireConsent();
    if (
      cards.length > 0 &&
      !(await session.confirmed(async () => `Remove ${name}, and encrypt everything anew?`))
    )
      return FAILED;
    const changes = await Changes.begin(session, keyring);
    sayGuests(session, keyring, cards);
    const caught = options.has(CARD) ? [] : keyring.state.caught.filter(({ card }) => card.name === name);
    if (cards.length > 0) await newEpoch(changes, [...cards, ...caught]);
    await settleKeys(changes);
    const files = await rewrapRuled(session, place, 'all');
    const listed = files.map(({ path, names }) => ({ file: path, names }));
    await printDocument(session, { name, id: changes.newestId, to_change: listed });
    session.say(`${name} is out. Keys: ${keyNames(changes.state).join(', ')}; all have a new version.`);
    if (listed.length > 0) session.say(`${name} could read these. Change them where they come from:`);
    for (const { file, names } of listed) session.say(`  ${file}: ${names.join(', ')}`);
    session.say(`Pipelines: put "# at least: ${spelled(changes.newestId)}" into their COFFER_IDENTITY.`);
    for (const folder of otherKeyringsOf(place, name))
      session.warn(
        `${name} has a card in the keyring of ${folder}, too: cd ${folder} && coffer team remove ${name}`,
      );
    return DONE;
  },
};

/**
 * Returns the cards to remove; none if an earlier, interrupted run already removed them.
 * @throws `not-found` if there is no such card
 */
function cardsToRemove({ state }: Keyring, name: string, card: string | undefined): readonly CardFact[] {
  const all = state.cards.filter(
    (fact) => fact.card.name === name && (card === undefined || fact.id.startsWith(card)),
  );
  if (card !== undefined && all.length > 1)
    throw invalid(`${name} has ${all.length} such cards`, { field: CARD, hint: 'give more of its id' });
  const isOut = state.removals.some(({ without }) =>
    without.some((out) => out.name === name && (card === undefined || out.id.startsWith(card))),
  );
  if (all.length > 0 || isOut) return all;
  throw notFound(`nobody is called ${name} in this keyring`, { hint: '"coffer team" shows who is in' });
}

function sayGuests(session: Session, { state }: Keyring, cards: readonly CardFact[]): void {
  const out = new Set(cards.map(({ id }) => id));
  const guests = state.cards.filter(({ id, by }) => out.has(by) && !out.has(id)).map(({ card }) => card.name);
  if (guests.length > 0)
    session.warn(
      `these stay, whom they had added: ${guests.join(', ')} (is each of them right? "coffer team remove NAME")`,
    );
}

const AGAIN = 'again';

export const settle: Command = {
  arguments: [],
  options: [
    taking(AGAIN, 'NAME', 'Give the keys to this member once more: what was given does not open.'),
    identityOption,
  ],
  details:
    'Does what a merge or an interrupted removal has left to be done: brings missing facts back that are in this clone, gives keys to who waits, ' +
    'and makes new ones where somebody had them who left. Nothing is done twice.',
  examples: [['coffer team settle', 'After a merge']],
  async run(session, { options }) {
    const place = keyringHere(session);
    bringBack(session, place);
    const keyring = await openKeyring(session, { place, isChange: true, identity: identityIn(options) });
    const changes = await Changes.begin(session, keyring);
    const before = changes.newestId;
    await settleKeys(changes, textOption(options, AGAIN));
    const files = await rewrapRuled(session, place, 'none');
    const changed = files.filter((file) => file.changed > 0).map(({ path }) => path);
    await printDocument(session, { id: changes.newestId, files: changed });
    session.say(
      changes.newestId === before && changed.length === 0
        ? 'There was nothing to be done.'
        : 'Settled. Commit what was changed.',
    );
    return DONE;
  },
};

/** Restores, from the commits of this clone, facts that other facts follow or that this machine has seen. */
function bringBack(session: Session, place: KeyringPlace): void {
  const memory = new TeamMemory(session.environment);
  const store = memory.keyringAt(place.mark);
  if (store === undefined) return;
  const { facts } = loadFacts(place.directory);
  const missing = new Set<string>();
  const want = (id: string | undefined): void => {
    if (id !== undefined && !facts.has(id)) missing.add(id);
  };
  for (const fact of facts.values())
    for (const id of [...fact.after, fact.root, fact.version?.under]) want(id);
  for (const id of memory.of(store).seen) want(id);
  if (missing.size === 0) return;
  const elsewhere = new Map(factsElsewhere(place).map((file) => [file[0].slice(-32), file]));
  // Restored facts follow others, which may be missing as well.
  for (const id of missing) {
    const [path, bytes] = elsewhere.get(id) ?? [];
    const fact = path === undefined || bytes === undefined ? undefined : factIn(path, bytes);
    if (fact === undefined || bytes === undefined || fact.store !== store) continue;
    putFile(place.directory, fact.path, bytes);
    session.say(`Brought back .coffer/${fact.path}.`);
    for (const before of [...fact.after, fact.root, fact.version?.under]) want(before);
  }
}

function factIn(path: string, bytes: Buffer): Fact | undefined {
  try {
    return parseFact(bytes, path);
  } catch (error) {
    if (error instanceof NoFact) return undefined;
    throw error;
  }
}

const keyChange = async (session: Session, options: Given['options']): Promise<Changes> => {
  const place = keyringHere(session);
  return Changes.begin(
    session,
    await openKeyring(session, { place, isChange: true, identity: identityIn(options) }),
  );
};

async function madeVersion(session: Session, changes: Changes, key: string): Promise<number> {
  const { version } = await newVersion(changes, key);
  const number = version?.number ?? 0;
  await printDocument(session, { key, version: number });
  session.say(`${key} is at version ${number}.`);
  sayOnlyWay(changes);
  return DONE;
}

export const addKey: Command = {
  arguments: [keyArgument],
  options: [identityOption],
  details: 'A key for some of the files, as rules in .coffer.yaml name it. Everybody who is in opens it.',
  examples: [['coffer team key add mail', 'A further key']],
  async run(session, { arguments: [key = ''], options }) {
    if (!isKeyName(key)) throw invalid(`a key can't be called ${JSON.stringify(key)}`, { field: 'KEY' });
    const changes = await keyChange(session, options);
    if (keyNames(changes.state).includes(key))
      throw exists(`there is a key ${key} already`, { hint: `a new version: coffer team key rotate ${key}` });
    return madeVersion(session, changes, key);
  },
};

export const rotateKey: Command = {
  arguments: [keyArgument],
  options: [identityOption],
  details:
    'New values are encrypted with it. Old ones open as before; "coffer secrets rewrap FILE" moves them.',
  examples: [['coffer team key rotate app', 'A new version']],
  async run(session, { arguments: [key = ''], options }) {
    const changes = await keyChange(session, options);
    if (!keyNames(changes.state).includes(key))
      throw notFound(`there is no key ${key} in this keyring`, {
        hint: `make it: coffer team key add ${key}`,
      });
    return madeVersion(session, changes, key);
  },
};
