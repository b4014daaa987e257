import { exists, invalid, notFound, refusedAs } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import { idsNeededBy } from '../../team/fact.ts';
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
import { rewrapAll } from '../secret-files/keyring-files.ts';
import { valuesUnder } from '../secret-files/ruled-files.ts';
import type { Session } from '../session.ts';
import { grant, newVersion, settleKeys } from '../team/acts.ts';
import { Changes, sayOnlyWay } from '../team/changes.ts';
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
    switching(
      ADMIN,
      'Allow the member to change the team and its keys; RECIPIENT must be an ssh-ed25519 key.',
    ),
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
      throw invalid('only a member with an ssh-ed25519 key can be added as an admin', {
        field: 'RECIPIENT',
      });
    const keyring = await openKeyringHere(session, options, { isChange: true });
    const cards = keyring.state.cards.filter(({ card }) => card.name === name);
    const isThere = cards.length > 0;
    const role = isAdmin ? 'admin' : 'user';
    refuseKnownKey(keyring, { name, role, recipient });
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
        `some values here were not encrypted with the keyring, and ${name} cannot decrypt these (run "coffer team check" to list them)`,
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
 * Refuses a key that a member has: under a second name it would still open everything after the removal of the first.
 * @throws `exists`
 */
function refuseKnownKey(
  { state }: TeamKeyring,
  { name, role, recipient }: { readonly name: string; readonly role: string; readonly recipient: string },
): void {
  const same = state.cards.filter(({ card }) => card.keys.includes(recipient));
  const other = same.find(({ card }) => card.name !== name);
  if (other === undefined && !same.some(({ card }) => card.role === role)) return;
  throw exists(`${other?.card.name ?? name} already has this key`, {
    hint: 'run "coffer team" to list the members',
  });
}

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
      `members that you have not confirmed on this machine: ${unknown.join(', ')}; a machine that trusts the ID printed below trusts these members, too: send the ID only if they belong to the team`,
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

const AGAIN = 'again';

export const settle: OwnCommand = {
  options: [
    taking(AGAIN, 'NAME', 'Encrypt the keys for this member again, if the member cannot open them.'),
    identityOption,
  ],
  details:
    'Gives keys to members that wait for them, replaces the keys that a removed member had, and re-encrypts all ' +
    'values of the keyring. Also restores, from the git history of this clone, deleted files of the keyring that ' +
    'other ones refer to, and removals that this machine has seen; "coffer team check" lists the others. Running it ' +
    'again changes nothing more.',
  examples: [['coffer team settle', 'Complete a merge']],
  async run(session, { options }) {
    const place = await keyringHere(session);
    const isRestored = bringBack(session, place);
    const keyring = await openKeyring(session, { place, isChange: true, identity: identityIn(options) });
    const changes = await Changes.begin(session, keyring);
    const before = changes.newestId;
    await settleKeys(changes, textOption(options, AGAIN), true);
    const files = await rewrapAll(session, { place, keys: new Set(keyNames(changes.state)) }, 'none');
    const rewritten = files.filter(({ changed }) => changed > 0);
    const changed = rewritten.map(({ path }) => path);
    await printDocument(session, { id: changes.newestId, files: changed });
    const isSettled = changes.newestId !== before || changed.length > 0;
    session.say(isSettled ? 'Settled.' : 'Nothing to do.');
    if (isSettled || isRestored)
      changes.sayToCommit(rewritten.filter(({ isIgnored }) => !isIgnored).map(({ path }) => path));
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
