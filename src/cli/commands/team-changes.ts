import { exists, invalid, notFound, refusedAs } from '../../ground/errors.ts';
import { meantText, nearest } from '../../ground/nearness.ts';
import { systemRandom } from '../../ground/random.ts';
import { type CardFact, idsNeededBy } from '../../team/fact.ts';
import { loadFacts, putFile } from '../../team/files.ts';
import { keyNames, nameOf } from '../../team/judge/judge.ts';
import { isKeyName, spelled } from '../../team/names.ts';
import { isRecipient } from '../../team/recipients.ts';
import { isSignedByAuthor, signatureCheck } from '../../team/signing.ts';
import { freshIdentity, recipientOfIdentity } from '../../transit/envelope/age/recipients.ts';
import { argument, type Command, type OwnCommand, switching, taking } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { readFileWhole } from '../files/in-file.ts';
import { inputText, OR_FILE, textOrFile } from '../files/input.ts';
import { printDocument } from '../files/output.ts';
import { type Given, textOption } from '../given.ts';
import { otherKeyringsOf, rewrapRuled, valuesUnder } from '../secret-files/ruled-files.ts';
import type { Session } from '../session.ts';
import { grant, newEpoch, newVersion, requireStayingAdmin, settleKeys } from '../team/acts.ts';
import { Changes, requireSigningCard, sayOnlyWay } from '../team/changes.ts';
import { openKeyring, type TeamKeyring } from '../team/keyring.ts';
import { KEY_NAMES, requireMemberName, requireOneKey } from '../team/member-name.ts';
import { TeamMemory } from '../team/memory.ts';
import { type KeyringPlace, shownFolder } from '../team/place.ts';
import { factsElsewhere } from '../team/witness.ts';
import { identityIn, identityOption, keyringHere, openKeyringHere, valuesNotOfKeyring } from './team.ts';

/* Commands that change a keyring. */

const nameArgument = argument('NAME', 'Name of the member, e.g. bob.');
const keyArgument = argument('KEY', 'Name of the encryption key, e.g. app.');

const NEW = 'new';
const ADMIN = 'admin';

export const add: Command = {
  arguments: [
    nameArgument,
    argument(
      `RECIPIENT${OR_FILE}`,
      'Public key of the member (age1… or an SSH public key), or a file that contains it.',
      { required: false, offers: 'file' },
    ),
  ],
  options: [
    switching(ADMIN, 'Allow the member to change the team and its keys; needs an ssh-ed25519 key.'),
    switching(NEW, 'Create a key for the member and print its private key once.', { excludes: [ADMIN] }),
    identityOption,
  ],
  details:
    'The member can decrypt everything that was ever encrypted in the repository. By default the member ' +
    'is a user and can encrypt and decrypt; an admin can also change the team. --new is for a CI ' +
    'pipeline or a backup on paper, which have no key yet. To use the printed private key, set ' +
    'COFFER_IDENTITY to it.',
  examples: [
    ['coffer team add bob bob.pub --admin', 'Add a colleague as an admin'],
    ['coffer team add ci --new', 'Add a pipeline; store the output in CI, as the secret COFFER_IDENTITY'],
  ],
  async run(session, { arguments: [name = '', given], options }) {
    requireMemberName(name, given);
    const fresh = options.has(NEW) ? freshIdentity(systemRandom) : undefined;
    requireOneKey(given, options.has(NEW));
    const recipient = fresh === undefined ? recipientFrom(given ?? '') : recipientOfIdentity(fresh);
    const isAdmin = options.has(ADMIN);
    if (isAdmin && !recipient.startsWith('ssh-ed25519 '))
      throw invalid('an admin needs an ssh-ed25519 key, for signing', { field: 'RECIPIENT' });
    const keyring = await openKeyringHere(session, options, { isChange: true });
    const cards = keyring.state.cards.filter(({ card }) => card.name === name);
    const isThere = cards.length > 0;
    const role = isAdmin ? 'admin' : 'user';
    if (cards.some(({ card }) => card.role === role && card.keys.includes(recipient)))
      throw exists(`${name} already has this key`, { hint: 'run "coffer team" to list the members' });
    if (isThere && !session.settings.yes && !session.prompts.available()) {
      throw exists(`${name} is already a member`, {
        hint: `use --yes to add another key for this member; "coffer team remove ${name} --card ID" removes the old one, whose ID "coffer team" shows`,
      });
    }
    if (
      isThere &&
      !(await session.confirmed(async () => `${name} is already a member. Add another key for this member?`))
    )
      return FAILED;
    const changes = await Changes.begin(session, keyring);
    const fact = await grant(changes, {
      name,
      role,
      keys: [recipient],
      sign: isAdmin ? recipient : undefined,
    });
    const id = spelled(changes.newestId);
    sayUnknown(session, changes);
    session.say(
      `${name} can decrypt all secrets of ${shownFolder(keyring.place)}, past ones included${isAdmin ? ', and change the team' : ''}.`,
    );
    const others = await valuesUnder(session, keyring.place)
      .then((used) => valuesNotOfKeyring(session, keyring, used))
      .catch(refusedAs([]));
    if (others.length > 0)
      session.warn(
        `${name} cannot decrypt values that were not encrypted with the keyring (run "coffer team check" to list them)`,
      );
    if (fresh !== undefined) session.streams.out.write(`# at least: ${id}\n${fresh}\n`);
    else {
      await printDocument(session, { id: fact.id, name, role, trust: id });
      session.sayCommand(
        `Send ${name} this command, but not through the repository:`,
        `coffer team trust ${id}`,
      );
    }
    changes.sayToCommit();
    return DONE;
  },
};

/**
 * Warns of members that this machine does not know: a new member whose machine gets the ID trusts them, and gives them
 * keys without a question.
 */
function sayUnknown(session: Session, changes: Changes): void {
  const unknown = changes.state.cards
    .filter((fact) => !changes.isKnown(fact))
    .map((fact) => `${fact.card.name} (added by ${nameOf(changes.state, fact.by)})`);
  if (unknown.length > 0)
    session.warn(
      `other machines that trust the ID printed here also trust members that this machine does not know: ${unknown.join(', ')} (send the ID only if they belong to the team)`,
    );
}

/** Whether a text is a path rather than a public key: one word with a slash or an extension. */
const isPathLike = (text: string): boolean =>
  /^\S+$/.test(text) && /[./]/.test(text) && !/^(?:age1|ssh-)/.test(text);

/**
 * Reads a public key.
 * @throws `invalid` if it is not a public key, or if there are several
 */
function recipientFrom(given: string): string {
  const ofFile = (path: string): string => inputText(readFileWhole(path, 'RECIPIENT', 1 << 20), 'RECIPIENT');
  const all = given.startsWith('@')
    ? ofFile(given.slice(1))
    : textOrFile(given, {
        isText: (text) => /^age1|^ssh-(?:ed25519|rsa)\s|\n/i.test(text),
        ofText: (text) => text,
        ofFile,
      });
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
  if (/^-----BEGIN .*PRIVATE KEY-----|^AGE-SECRET-KEY-/m.test(all))
    throw invalid('this is a private key', {
      field: 'RECIPIENT',
      hint: 'use its public key, e.g. the file with .pub',
    });
  const good = lines.filter(isRecipient);
  const [only, other] = lines.length > 1 ? good.filter((line) => !line.startsWith('ssh-rsa ')) : good;
  if (only !== undefined && other === undefined) return only;
  const none = isPathLike(all)
    ? `${given} is neither a file nor a public key`
    : 'not a public key of a supported type';
  throw invalid(only === undefined ? none : 'more than one public key given', {
    field: 'RECIPIENT',
    hint:
      only === undefined
        ? 'use age1…, ssh-ed25519 … or ssh-rsa …, or an existing file with one'
        : 'use only one of the lines',
  });
}

const CARD = 'card';

export const remove: Command = {
  arguments: [{ ...nameArgument, offers: 'member' }],
  options: [
    taking(
      CARD,
      'ID',
      'Remove only one key of the member: the key with this ID in the column "Card" of "coffer team". Without another key, the member is removed.',
    ),
    identityOption,
  ],
  details:
    'The removed member cannot decrypt anything encrypted from then on: the keyring gets a new root ' +
    'key and a new version of every key, and the files matched by .coffer.yaml are re-encrypted; for other files, ' +
    'run "coffer secrets rewrap FILE". The member may have kept a copy of every earlier value: the command lists the values to change ' +
    'at their source, e.g. in the database. If the command is interrupted, run it again to continue.',
  examples: [
    ['coffer team remove bob', 'Remove a member'],
    [
      'coffer team remove bob --card 22sx08km',
      'Remove one key of the member bob, but not the other keys of bob',
    ],
  ],
  async run(session, { arguments: [name = ''], options }) {
    const keyring = await openKeyringHere(session, options, { isChange: true, removing: name });
    const { place } = keyring;
    const card = textOption(options, CARD)?.replaceAll('-', '');
    const cards = cardsToRemove(keyring, name, card);
    const removed = card === undefined ? name : `the key ${card} of ${name}`;
    // Changes that will be refused are refused before the user is asked.
    await requireSigningCard(session, keyring);
    requireStayingAdmin(keyring, cards);
    session.requireConsent();
    sayGuests(session, keyring, cards);
    if (
      cards.length > 0 &&
      !(await session.confirmed(async () => `Remove ${removed} and re-encrypt everything?`))
    )
      return FAILED;
    const changes = await Changes.begin(session, keyring);
    const before = changes.newestId;
    const caught = options.has(CARD) ? [] : keyring.state.caught.filter(({ card }) => card.name === name);
    if (cards.length > 0) await newEpoch(changes, [...cards, ...caught]);
    await settleKeys(changes);
    // There may be new values since an earlier run, which need confirmation.
    const isRepeated = cards.length === 0 && !session.settings.yes;
    const files = await rewrapRuled(
      session,
      place,
      isRepeated ? 'ask' : changes.trustedBeforeRemovalOf(name),
    );
    const listed = files.map(({ path, names }) => ({ file: path, names }));
    await printDocument(session, { name, id: changes.newestId, to_change: listed });
    const isUnchanged = changes.newestId === before && files.every(({ changed }) => changed === 0);
    if (cards.length === 0 && isUnchanged) session.say(`No changes made: ${removed} was already removed.`);
    else if (cards.length === 0) session.say(`Finished removing ${removed}: an earlier run was interrupted.`);
    else
      session.say(`Removed ${removed}. All keys have a new version: ${keyNames(changes.state).join(', ')}.`);
    if (cards.length > 0 && listed.length === 0)
      session.say(
        'No file that .coffer.yaml matches has encrypted values. For other files, run "coffer secrets rewrap FILE".',
      );
    sayWhatFollows(changes, removed, listed);
    for (const folder of card === undefined ? otherKeyringsOf(place, name) : [])
      session.warn(
        `${name} is also a member of the keyring of ${folder}: cd ${folder} && coffer team remove ${name}`,
      );
    return DONE;
  },
};

/** Says what to do after a removal, besides committing it. */
function sayWhatFollows(
  changes: Changes,
  removed: string,
  listed: readonly { readonly file: string; readonly names: readonly string[] }[],
): void {
  const { session } = changes;
  if (listed.length > 0) session.say(`${removed} could read these values. Change them at their source:`);
  for (const { file, names } of listed) session.say(`  ${file}: ${names.join(', ')}`);
  session.sayCommand(
    'Pipelines: in the variable COFFER_IDENTITY, replace the line that begins with "# at least:" by this one, or add this one above the private key. The pipeline then refuses older states of the keyring:',
    `# at least: ${spelled(changes.newestId)}`,
  );
  changes.sayToCommit(listed.map(({ file }) => file));
}

/**
 * Returns the cards to remove; none if an earlier, interrupted run already removed them.
 * @throws `not-found` if there is no such card
 */
function cardsToRemove({ state }: TeamKeyring, name: string, card: string | undefined): readonly CardFact[] {
  const all = state.cards.filter(
    (fact) => fact.card.name === name && (card === undefined || fact.id.startsWith(card)),
  );
  if (card !== undefined && all.length > 1)
    throw invalid(`the IDs of ${all.length} keys of ${name} begin with ${card}`, {
      field: CARD,
      hint: 'use more characters of the ID, as "coffer team" lists it',
    });
  const isOut = state.removals.some(({ without }) =>
    without.some((out) => out.name === name && (card === undefined || out.id.startsWith(card))),
  );
  if (all.length > 0 || isOut) return all;
  if (state.cards.some((fact) => fact.card.name === name))
    throw notFound(`no key of ${name} has an ID that begins with "${card}"`, {
      field: CARD,
      hint: 'run "coffer team" to list the IDs',
    });
  const near = nearest(name, [...new Set(state.cards.map((fact) => fact.card.name))]);
  const hint = near.length > 0 ? meantText(near) : 'run "coffer team" to list the members';
  throw notFound(`no member "${name}" in this keyring`, { hint });
}

/** Warns about members who were added by the removed one, besides the user, who is known to be right. */
function sayGuests(session: Session, { state, ownCards }: TeamKeyring, cards: readonly CardFact[]): void {
  const out = new Set(cards.map(({ id }) => id));
  const known = new Set([...cards, ...ownCards].map(({ id }) => id));
  const guests = state.cards
    .filter(({ id, by }) => out.has(by) && !known.has(id))
    .map(({ card }) => card.name);
  if (guests.length > 0)
    session.warn(
      `members added by the removed member stay: ${guests.join(', ')} (remove any that should not, with "coffer team remove NAME")`,
    );
}

const AGAIN = 'again';

export const settle: OwnCommand = {
  options: [
    taking(AGAIN, 'NAME', 'Encrypt the keys for this member again, if the member cannot open them.'),
    identityOption,
  ],
  details:
    'Restores deleted files of the keyring from the git history of this clone, gives keys to members ' +
    'that wait for them, and replaces the keys that a removed member had. Running it again changes ' +
    'nothing more.',
  examples: [['coffer team settle', 'Complete a merge']],
  async run(session, { options }) {
    const place = await keyringHere(session);
    const isRestored = bringBack(session, place);
    const keyring = await openKeyring(session, { place, isChange: true, identity: identityIn(options) });
    const changes = await Changes.begin(session, keyring);
    const before = changes.newestId;
    await settleKeys(changes, textOption(options, AGAIN), true);
    const files = await rewrapRuled(session, place, 'none');
    const changed = files.filter((file) => file.changed > 0).map(({ path }) => path);
    await printDocument(session, { id: changes.newestId, files: changed });
    const isSettled = changes.newestId !== before || changed.length > 0;
    session.say(isSettled ? 'Settled.' : 'Nothing to do.');
    if (isSettled || isRestored) changes.sayToCommit(changed);
  },
};

/**
 * Restores, from the commits of this clone, facts that other facts follow or that this machine has seen, if they are
 * missing or were altered.
 * @returns whether there were any
 */
function bringBack(session: Session, place: KeyringPlace): boolean {
  const memory = new TeamMemory(session.environment);
  const store = memory.keyringAt(place.mark);
  if (store === undefined) return false;
  const verified = memory.verified(store);
  const check = signatureCheck(verified);
  const { facts } = loadFacts(place.directory);
  const present = [...facts.values()].filter((fact) => isSignedByAuthor(fact, facts, check));
  const ids = new Set(present.map(({ id }) => id));
  const missing = new Set<string>();
  const want = (id: string): void => {
    if (!ids.has(id)) missing.add(id);
  };
  for (const fact of facts.values()) idsNeededBy(fact).forEach(want);
  memory.of(store).seen.forEach(want);
  if (missing.size === 0) return false;
  let isRestored = false;
  const elsewhere = new Map([...factsElsewhere(place, verified)].map((entry) => [entry[0].id, entry]));
  // Restored facts follow others, which may be missing as well.
  for (const id of missing) {
    const [fact, bytes] = elsewhere.get(id) ?? [];
    if (fact === undefined || bytes === undefined || fact.store !== store) continue;
    if (facts.get(id)?.digest === fact.digest) continue;
    putFile(place.directory, fact.path, bytes);
    session.say(`Restored .coffer/${fact.path}.`);
    isRestored = true;
    idsNeededBy(fact).forEach(want);
  }
  return isRestored;
}

const keyChange = async (session: Session, options: Given['options']): Promise<Changes> =>
  Changes.begin(session, await openKeyringHere(session, options, { isChange: true }));

async function madeVersion(session: Session, changes: Changes, key: string): Promise<number> {
  const { version } = await newVersion(changes, key);
  const number = version?.number ?? 0;
  await printDocument(session, { key, version: number });
  session.say(`${key} is at version ${number}.`);
  changes.sayToCommit();
  sayOnlyWay(changes);
  return DONE;
}

export const addKey: Command = {
  arguments: [keyArgument],
  options: [identityOption],
  details: 'All members can use the key. To encrypt files with the key, name it in a rule of .coffer.yaml.',
  examples: [['coffer team key add mail', 'Add the key "mail" to the keyring']],
  async run(session, { arguments: [key = ''], options }) {
    if (!isKeyName(key))
      throw invalid(`invalid key name ${JSON.stringify(key)}`, { field: 'KEY', hint: KEY_NAMES });
    const changes = await keyChange(session, options);
    if (keyNames(changes.state).includes(key))
      throw exists(`key ${key} already exists`, {
        hint: `run "coffer team key rotate ${key}" to add a version`,
      });
    return madeVersion(session, changes, key);
  },
};

export const rotateKey: Command = {
  arguments: [keyArgument],
  options: [identityOption],
  details:
    'New values are encrypted with the new version. Old values can still be decrypted; "coffer secrets rewrap FILE" re-encrypts them.',
  examples: [['coffer team key rotate app', 'Rotate a key']],
  async run(session, { arguments: [key = ''], options }) {
    const changes = await keyChange(session, options);
    if (!keyNames(changes.state).includes(key))
      throw notFound(`no key "${key}" in this keyring`, {
        hint: `run "coffer team key add ${key}" to create it`,
      });
    return madeVersion(session, changes, key);
  },
};
