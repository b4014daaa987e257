import { createPublicKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { conflict, denied, exists, invalid, notFound } from '../../ground/errors.ts';
import { systemRandom } from '../../ground/random.ts';
import { RULES_NAME } from '../../secret-files/rules.ts';
import { ArmorSealer, lineOfArmor } from '../../team/armor.ts';
import { isKeyring, KEYRING } from '../../team/directory.ts';
import { printMessage } from '../../team/fact.ts';
import { loadFacts, makeKeyring, writeFact } from '../../team/files.ts';
import { isKeyName, isName, spelled } from '../../team/names.ts';
import { sshLineOf } from '../../team/recipients.ts';
import { checkOf } from '../../team/roots.ts';
import { signed } from '../../team/signing.ts';
import { ed25519FromSeed } from '../../transit/key-types/der.ts';
import { argument, type OwnCommand, taking } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { printDocument } from '../files/output.ts';
import { textOption } from '../given.ts';
import { workingTree } from '../repository/git.ts';
import { sayHowToMove, strandedBy } from '../secret-files/ruled-files.ts';
import type { PersonalKey } from '../secrets/identities.ts';
import { pluginHost } from '../secrets/plugins.ts';
import type { Session } from '../session.ts';
import { newVersion } from '../team/acts.ts';
import { agentSigner, Changes, freshRoot, type Signer, sayOnlyWay, timeNow } from '../team/changes.ts';
import { openKeyring } from '../team/keyring.ts';
import { KEY_NAMES, MEMBER_NAMES } from '../team/member-name.ts';
import { TeamMemory } from '../team/memory.ts';
import { keyringIdentities, untold } from '../team/own-keys.ts';
import { type KeyringPlace, placeIn, shownFolder } from '../team/place.ts';
import { identityIn, identityOption } from './team.ts';

/* Command that creates a keyring. */

export const init: OwnCommand = {
  arguments: [
    argument('FOLDER', 'Folder whose files use the keyring. Default: the working directory.', {
      required: false,
      offers: 'directory',
    }),
  ],
  options: [
    taking('name', 'NAME', 'Your name in the keyring.', { fallback: 'your user name on this machine' }),
    taking('key', 'KEY', 'Name of the first key.', { fallback: 'app; with FOLDER, the name of the folder' }),
    identityOption,
  ],
  details:
    'A keyring is a directory .coffer in a git repository, which is committed with the other files. It holds the ' +
    'list of members, and keys that only members can open. You become its admin, with your SSH or age key. From ' +
    'then on, --key and .coffer.yaml name keys of the keyring, for all files in FOLDER. Without FOLDER, run ' +
    'the command at the top of the repository: the keyring is for the files below the working directory.',
  examples: [
    ['coffer team init', 'Create a keyring for a repository'],
    ['coffer team init production', 'Create a keyring for one folder'],
  ],
  async run(session, { arguments: [folder = '.'], options }) {
    const directory = resolve(folder);
    const top = workingTree(
      existsSync(directory) ? directory : dirname(directory),
      'create the keyring in a git repository: run "git init" first',
    );
    const place = placeIn(directory, resolve(top));
    if (existsSync(place.directory))
      throw exists(`${join(folder, KEYRING)} already exists`, { hint: 'run "coffer team" to show it' });
    const name = nameFrom(session, textOption(options, 'name'));
    const key = textOption(options, 'key') ?? (folder === '.' ? 'app' : basename(directory));
    if (!isKeyName(key))
      throw invalid(`invalid key name ${JSON.stringify(key)}`, {
        field: 'key',
        hint: options.has('key') ? KEY_NAMES : 'use --key NAME',
      });
    refuseOuterKey(place, key);
    const { keys } = await keyringIdentities(session, identityIn(options));
    const told = keys.filter(({ recipient }) => recipient !== '');
    const own = told.find(({ signer }) => signer !== undefined) ?? told[0];
    if (own === undefined && keys[0] !== undefined) untold(keys[0]);
    if (own === undefined) {
      throw notFound('no private key found', {
        hint: 'create one with "ssh-keygen -t ed25519", or use --identity FILE',
      });
    }
    const stranded = existsSync(directory) ? await strandedBy(session, place) : [];
    if (!(await mayReplace(session, place))) return FAILED;
    const { store, root } = await found(session, place, name, own);
    const memory = new TeamMemory(session.environment);
    memory.setKeyringAt(place.mark, store);
    memory.noteCards(store, [store]);
    const keyring = await openKeyring(session, { place, isChange: true, identity: identityIn(options) });
    keyring.roots.learn(store, root);
    const changes = await Changes.begin(session, keyring);
    await newVersion(changes, key);
    await printDocument(session, { id: store, name, key });
    session.say(
      `Created the keyring ${join(folder, KEYRING)} for ${shownFolder(place)}. You are its admin, as ${name}, with ${own.where}.`,
    );
    session.say(`Its first key is ${key}. To commit the keyring: git add ${join(folder, KEYRING)}`);
    sayOnlyWay(changes);
    sayHowToMove(session, stranded, key);
    session.remark(
      `Next: if ${RULES_NAME} does not name the files with secrets yet, name them there ("coffer help secrets-format"). Then run "coffer secrets git-setup".`,
    );
    return DONE;
  },
};

/**
 * Asks whether a keyring that this clone had, and whose files are missing, is replaced by a new one: an attacker who can
 * push can delete it.
 * @throws `denied` if the user cannot be asked, and `--yes` is not given
 * @see docs/decisions/0299
 */
async function mayReplace(session: Session, { directory, mark }: KeyringPlace): Promise<boolean> {
  const known = new TeamMemory(session.environment).keyringAt(mark);
  if (known === undefined) return true;
  const what = `the keyring ${directory} of this clone no longer exists`;
  if (!session.settings.yes && !session.prompts.available())
    throw denied(what, {
      hint: `restore it with git; its ID was ${spelled(known)}; to create a new keyring, which cannot decrypt what was encrypted with the old one, use --yes`,
    });
  return session.confirmed(
    async () =>
      `${what} (git can restore it). A new keyring cannot decrypt what was encrypted with the old one. Create a new keyring?`,
  );
}

function nameFrom(session: Session, given: string | undefined): string {
  const raw = given ?? session.environment['USER'] ?? session.environment['USERNAME'] ?? userInfo().username;
  const name =
    given ??
    raw
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+/, '')
      .slice(0, 32);
  if (isName(name)) return name;
  throw invalid(`invalid member name ${JSON.stringify(raw)}`, {
    field: 'name',
    hint: `set --name: ${MEMBER_NAMES}`,
  });
}

/**
 * Refuses a key of the same name as one of an outer keyring: if the inner keyring were removed, values would be
 * encrypted for more people.
 * @throws `conflict` if there is one
 */
function refuseOuterKey({ folder, top }: KeyringPlace, key: string): void {
  for (let above = folder; above !== top && dirname(above) !== above; ) {
    above = dirname(above);
    const directory = join(above, KEYRING);
    if (!isKeyring(directory)) continue;
    const isThere = [...loadFacts(directory).facts.values()].some(({ version }) => version?.key === key);
    if (isThere)
      throw conflict(`a keyring in a parent directory already has a key "${key}"`, {
        hint: 'use another name: --key NAME',
      });
  }
}

/**
 * Creates the first fact of a keyring.
 * @returns its ID, and the root key
 */
async function found(
  session: Session,
  place: KeyringPlace,
  name: string,
  own: PersonalKey,
): Promise<{ readonly store: string; readonly root: Buffer }> {
  const sealer = new ArmorSealer(systemRandom, pluginHost(session));
  const { sign, signer, secret } = await signingOf(session, name, own, sealer);
  const root = freshRoot();
  const fields = { at: timeNow(), name, key: own.recipient, sign, secret, check: checkOf(root) };
  const armor = await sealer.armorFor([own.recipient], root);
  const message = printMessage('store', Object.entries(fields), armor);
  const signature = await signer(message);
  makeKeyring(place.directory);
  return { store: writeFact(place.directory, message, signature).id, root };
}

/**
 * Returns what signs for the founder: the ssh-agent instead of a passphrase, the own key, or a new one, which is
 * returned sealed as well.
 */
async function signingOf(session: Session, name: string, own: PersonalKey, sealer: ArmorSealer) {
  if (own.signer !== undefined && own.isLocked?.() === true) {
    const signer = await agentSigner(session, own.recipient, name);
    if (signer !== undefined) return { sign: own.recipient, signer, secret: undefined };
  }
  const direct = await own.signer?.();
  const seed = systemRandom.bytes(32);
  const key = direct ?? ed25519FromSeed(seed);
  return {
    sign: sshLineOf(createPublicKey(key)),
    signer: (async (message) => signed(message, key)) satisfies Signer,
    secret: direct === undefined ? lineOfArmor(await sealer.armorFor([own.recipient], seed)) : undefined,
  };
}
