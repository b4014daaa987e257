import { relative } from 'node:path';
import { invalid, notFound } from '../../ground/errors.ts';
import { RULES_NAME } from '../../secret-files/rules.ts';
import { type Fact, takesOut } from '../../team/fact.ts';
import { loadFacts } from '../../team/files.ts';
import { bestVersion, headsOf, type Judgement, keyNames, nameOf } from '../../team/judge/judge.ts';
import { short, spelled, unspelled } from '../../team/names.ts';
import { argument, type OwnCommand, takingFile } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { printResult } from '../files/output.ts';
import { type Given, textOption } from '../given.ts';
import { remindOfGitSetupHere } from '../secret-files/clone-reminder.ts';
import { valuesOf } from '../secret-files/keyring-files.ts';
import { type RuledFile, sharedKeys, sharingHint, valuesUnder } from '../secret-files/ruled-files.ts';
import type { Session } from '../session.ts';
import { openKeyring, type TeamKeyring } from '../team/keyring.ts';
import { TeamMemory } from '../team/memory.ts';
import { isUnfinished, isWaiting, peopleOut, WORK_IS_LEFT } from '../team/oddities.ts';
import type { KeyringPlace } from '../team/place.ts';
import { alterationsOf, untrackedFacts, witnessOf } from '../team/witness.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { visible } from '../terminal/visible.ts';

/* Commands that show a keyring. */

const IDENTITY = 'identity';
export const identityOption = takingFile(
  IDENTITY,
  'File with your private key (age or SSH). Default: $COFFER_IDENTITY or $COFFER_IDENTITY_FILE, else ' +
    'all keys found in ~/.config/coffer/identity, ~/.ssh/id_ed25519, ~/.ssh/id_rsa, $SOPS_AGE_KEY_FILE and ' +
    '~/.config/sops/age/keys.txt.',
);
export const identityIn = (options: Given['options']): string | undefined => textOption(options, IDENTITY);

/**
 * Returns the keyring of the working directory.
 * @throws `not-found` if there is none
 */
export async function keyringHere(session: Session): Promise<KeyringPlace> {
  const memory = new TeamMemory(session.environment);
  const place = memory.placeAbove('.');
  if (place !== undefined) return place;
  throw notFound('no keyring in this directory or its parents', {
    hint: (await sharingHint(session)) ?? 'run "coffer team init" to create one',
  });
}

/** Opens the keyring of the working directory with the private key that the options name. */
export const openKeyringHere = async (
  session: Session,
  options: Given['options'],
  purpose: Omit<Parameters<typeof openKeyring>[1], 'place' | 'identity'> = {},
): Promise<TeamKeyring> =>
  openKeyring(session, { place: await keyringHere(session), identity: identityIn(options), ...purpose });

const idArgument = argument(
  'ID',
  'ID that a colleague gave you in person or by chat; do not take it from the repository.',
);

export const trust: OwnCommand = {
  arguments: [idArgument],
  options: [identityOption],
  details:
    'Checks that the keyring of the repository contains the change with this ID and all earlier ones, and ' +
    'records on this machine that the keyring is genuine. "coffer team add" prints the ID of the change that it ' +
    'makes. If two admins removed each other, ask in person which one stays, and use the ID of the removal that ' +
    'this admin made; the error message names both IDs.',
  examples: [
    [
      'coffer team trust 22sx-08km-gprp-h0n6-x84k-5x7n-y91q-d3ec',
      'Trust the keyring of this clone, with the ID from an admin',
    ],
  ],
  async run(session, { arguments: [text = ''], options }) {
    const trusting = requireId(unspelled(text));
    const { state } = await openKeyringHere(session, options, { trusting });
    const admins = new Set(
      state.cards.filter(({ card }) => card.role === 'admin').map(({ card }) => card.name),
    );
    const names = [...new Set(state.cards.map(({ card }) => card.name))];
    const listed = names.map((name) => (admins.has(name) ? `${name} (admin)` : name));
    session.say(`Trusted on this machine. Members: ${listed.join(', ')}.`);
    remindOfGitSetupHere(session);
  },
};

export const list: OwnCommand = {
  options: [identityOption],
  details: 'Also lists what is still to do, such as a merge to complete. The same as "coffer team" alone.',
  examples: [['coffer team', 'List the members']],
  async run(session, { options }) {
    const keyring = await openKeyringHere(session, options);
    const { state } = keyring;
    const rows = state.cards.map((fact) => ({
      name: fact.card.name,
      role: fact.card.role,
      id: fact.id,
      keys: fact.card.keys,
      added_by: fact.kind === 'store' ? '' : nameOf(state, fact.by),
      waits: isWaiting(state, fact),
    }));
    const keys = keyNames(state).map((name) => ({
      name,
      version: bestVersion(state, name)?.version.number ?? null,
    }));
    await printResult(
      session,
      { members: rows, keys, trust: idToTrust(keyring) ?? null },
      {
        table: () => ({
          head: ['Name', 'Role', 'Card', 'Key', 'Added by'],
          rows: rows.map((row) => [
            row.name,
            row.role,
            short(row.id),
            row.keys.map(shortKey).join(', '),
            row.added_by,
          ]),
          lesser: [4, 2],
        }),
      },
    );
    sayDue(session, keyring);
  },
};

const shortKey = (key: string): string => (key.length > 40 ? `${key.slice(0, 28)}…${key.slice(-8)}` : key);

function sayDue(session: Session, keyring: TeamKeyring): void {
  const { state } = keyring;
  const keys = keyNames(state);
  session.say(
    `Keys: ${keys.map((name) => `${name} v${bestVersion(state, name)?.version.number ?? '?'}`).join(', ') || 'none'}.`,
  );
  const waiting = state.cards.filter((fact) => isWaiting(state, fact));
  if (waiting.length > 0)
    session.say(
      `Cannot decrypt yet: ${waiting.map(({ card }) => card.name).join(', ')}. An admin must run "coffer team settle".`,
    );
  if (isUnfinished(state)) session.say(WORK_IS_LEFT);
  const id = idToTrust(keyring);
  if (id !== undefined)
    session.sayCommand('To trust this keyring elsewhere:', `coffer team trust ${spelled(id)}`);
}

/**
 * Returns the ID with which others can trust the keyring; undefined if it would also vouch for members that this
 * machine does not know.
 */
function idToTrust({ state, card: own, remembered }: TeamKeyring): string | undefined {
  const isVouchedFor = state.cards.every(({ id }) => id === own?.id || remembered.cards.has(id));
  return isVouchedFor ? (headsOf(state)[0] ?? state.store) : undefined;
}

export const log: OwnCommand = {
  options: [identityOption],
  details:
    'Lists the signed changes to the keyring, oldest first. The times are set by the authors of the changes, and are not verified.',
  examples: [['coffer team log', 'Show all changes to members and keys']],
  async run(session, { options }) {
    const { state } = await openKeyringHere(session, options);
    const entries = state.line.map((fact) => ({
      id: fact.id,
      at: fact.at,
      by: nameOf(state, fact.by),
      what: said(fact),
      counts: state.valid.has(fact.id),
    }));
    await printResult(
      session,
      { facts: entries },
      {
        table: () => ({
          head: ['ID', 'When', 'Who', 'What'],
          rows: entries.map(({ id, at, by, what, counts }, index) => {
            // Programs compare the text of JSON.
            const fact = state.line[index];
            const done = fact !== undefined && takesOut(fact) ? `removed ${peopleOut(state, fact)}` : what;
            return [short(id), { time: at }, by, counts ? done : `${done} (not in effect)`];
          }),
        }),
      },
    );
  },
};

function said(fact: Fact): string {
  const names = (references: Fact['without']): string => references.map(({ name }) => name).join(', ');
  if (fact.kind === 'store') return `created the keyring, as ${fact.card?.name}`;
  if (fact.card !== undefined) return `added ${fact.card.name} (${fact.card.role})`;
  if (takesOut(fact)) return `removed ${names(fact.without)}`;
  if (fact.kind === 'removal') return 'replaced the key that encrypts all keys';
  if (fact.version !== undefined) return `created ${fact.version.key} v${fact.version.number}`;
  return fact.kind === 'slot'
    ? `gave the keys to ${names(fact.for)}`
    : `made a change that only a newer Coffer can read: ${fact.path}`;
}

const FOUND = { member: 'found', as: 'lines' } as const;

/** Returns descriptions of values whose key exists in a version that the keyring does not have. */
const valuesWithoutVersion = (state: Judgement, used: readonly RuledFile[]): readonly string[] =>
  used.flatMap(({ path, values }) =>
    values
      .filter(({ value: { key, version } }) => {
        const versions = state.versions.get(key);
        return versions !== undefined && !versions.some(({ fact }) => fact.version.number === version);
      })
      .map(
        ({ name, value: { key, version } }) =>
          `${path}: ${name} is encrypted with ${key} v${version}, which this keyring does not have`,
      ),
  );

/** Returns descriptions of files with values that are not of the keyring, such as those of an author's store. */
export async function valuesNotOfKeyring(
  session: Session,
  keyring: TeamKeyring,
  used: readonly RuledFile[],
): Promise<readonly string[]> {
  const { ownStoreHint } = await import('../team/team-keys.ts');
  const { refusedValues } = await import('../team/checked-values.ts');
  const all = used.flatMap(({ values }) => values);
  const refused = await refusedValues(session, keyring, all);
  const others = new Set(refused.filter(({ why }) => why === undefined).map(({ value }) => value));
  return used.flatMap(({ path, values }) => {
    const names = values.filter((value) => others.has(value)).map(({ name }) => name);
    if (names.length === 0) return [];
    const own = ownStoreHint(session, path);
    return `${path}: this keyring cannot decrypt ${names.join(', ')}: modified, moved, or encrypted with another keyring or store${own === '' ? '' : ` (${own})`}`;
  });
}

/** Returns descriptions of values that commands refuse, because removed members may have written them. */
async function valuesOfRemoved(session: Session, keyring: TeamKeyring): Promise<readonly string[]> {
  const { refusedValues } = await import('../team/checked-values.ts');
  const { place, state } = keyring;
  const files = await valuesOf(session, { place, keys: new Set(state.versions.keys()) });
  const all = files.flatMap(({ values }) => values);
  return (await refusedValues(session, keyring, all)).flatMap(({ value: { where, name }, why }) =>
    why === undefined ? [] : [`${where}: ${name}: ${why}`],
  );
}

export const check: OwnCommand = {
  options: [identityOption],
  isVerdict: true,
  details:
    'Checks every file and signature of the keyring, the git settings that could alter these files, and the git ' +
    'history for files of the keyring that were removed or changed. Also reports files of the keyring that git does not ' +
    'track, changes signed by someone without access to the keyring (e.g. through a forwarded ssh-agent), ' +
    'encrypted values whose key version is missing, values that commands refuse because a removed member may have ' +
    'written them and, if your key opens the keyring, values that the keyring cannot decrypt. ' +
    'Exits with 1 if a problem is found. Also lists keys that .coffer.yaml uses in several folders; these are ' +
    'not a problem.',
  examples: [['coffer team check', 'Check before a release, or in CI']],
  async run(session, { options }) {
    const checked = { isChecked: true, reported: 'errors' as const };
    const keyring = await openKeyringHere(session, options, checked);
    const { place, state, roots } = keyring;
    const { strangers, blockers } = loadFacts(place.directory);
    const witness = witnessOf(place);
    const found = [
      ...[...strangers, ...state.refused].map(([path, why]) => `.coffer/${path} ${why}`),
      ...blockers.map((text) => `.coffer/${text}`),
      ...alterationsOf(place),
      ...witness.losses.map(({ text }) => text),
      ...untrackedFacts(place).map(
        (path) =>
          `.coffer/${path} is not in git (run "git add ${shellWord(relative('.', place.directory))}")`,
      ),
    ];
    for (const { id, path, by } of state.believed) {
      if ((await roots.open(id)) === undefined || (await roots.isSighted(id))) continue;
      found.push(
        `.coffer/${path} was signed as ${nameOf(state, by)} by someone without access to the keyring, e.g. through a forwarded ssh-agent`,
      );
    }
    if (witness.isShallow)
      session.say(
        'This clone does not have the whole git history, so a change that was removed from the keyring cannot be noticed.',
      );
    const used = await valuesUnder(session, place);
    if (used.length === 0)
      session.say(`No files with secrets were checked: ${RULES_NAME} names none of this keyring.`);
    found.push(
      ...valuesWithoutVersion(state, used),
      ...(await valuesNotOfKeyring(session, keyring, used)),
      ...(await valuesOfRemoved(session, keyring)),
    );
    const shared = sharedKeys(used);
    if (found.length > 0 || session.settings.format !== undefined)
      await printResult(
        session,
        { facts: state.valid.size, found, shared_keys: shared },
        session.settings.format === 'json' ? {} : { lines: () => found.map(visible), result: FOUND },
      );
    for (const { key, folders } of shared)
      session.say(
        `Key "${key}" is used in ${folders.join(', ')}: a value can be moved from one of their files to another under the same name. Use a separate key for each environment.`,
      );
    session.say(
      found.length === 0
        ? `Checked ${state.valid.size} signed changes: no problems found.`
        : `Problems: ${found.length}.`,
    );
    return found.length === 0 ? DONE : FAILED;
  },
};

/**
 * Checks an ID.
 * @throws `invalid` if the text is not an ID
 */
function requireId(id: string | undefined): string {
  if (id !== undefined) return id;
  throw invalid('invalid keyring ID', {
    field: 'ID',
    hint: 'use the ID as printed: 32 digits and letters, in eight groups',
  });
}
