import { CofferError, printPlace } from '../../ground/errors.ts';
import { backupStore, restoreStore } from '../../store/administration/backup.ts';
import { copyStore } from '../../store/administration/copy.ts';
import { type Examination, type ExamineOptions, examineStore } from '../../store/administration/doctor.ts';
import { type Mended, type Repair, repairStore } from '../../store/administration/repair.ts';
import type { Finding } from '../../store/administration/status.ts';
import type { VerifyOptions } from '../../store/administration/verified.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import {
  locationForms,
  locationFrom,
  migrateAt,
  printLocation,
  withBackendAt,
} from '../../store/backends/registry.ts';
import { printVersion } from '../../store/backends/version.ts';
import type { Command, OptionSpec } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { mayReplace } from '../files/out-file.ts';
import { printDocument, printResult } from '../files/output.ts';
import { type Given, variable } from '../given.ts';
import { LastSeen } from '../last-seen.ts';
import { FORCE, forceOption } from '../parse/operation-spec.ts';
import { credentialsFor, unlockStore } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';
import { watched } from '../terminal/progress.ts';
import { findingText, namingDamage, sayLeftOut, WITHOUT_DAMAGED } from './damage.ts';

const REPAIR = 'repair';

export const doctor: Command = {
  arguments: [],
  options: [
    {
      flag: REPAIR,
      takes: 'nothing',
      help: 'Mend all that can be mended with nothing lost, and say what was done.',
    },
  ],
  details:
    'Changes nothing without --repair. Damage makes the exit code 1; each damaged file is printed with what is wrong and what ' +
    'to do. With --repair, only what could not be mended is damage. Nothing is asked: what is lost stays lost, and is named.',
  examples: [
    ['coffer doctor', 'Check the whole store'],
    ['coffer doctor --repair', 'A missing state file, indexes, the lock, modes, what killed writers left'],
    ["coffer doctor -o json | jq -r '.findings[].file'", 'The damaged files alone'],
  ],
  async run(session, { options }) {
    session.refuseRemote();
    const location = session.settings.storeLocation;
    const credentials = credentialsFor(session);
    const { mended, examination } = await watched(session, (onProgress) =>
      options.has(REPAIR)
        ? repairStore({ location, credentials, onProgress })
        : examineAlone({ location, credentials, onProgress }),
    ).catch(aboutSlots);
    await printExamination(session, examination, mended);
    return examination.findings.length === 0 ? DONE : FAILED;
  },
};

const examineAlone = async (
  options: ExamineOptions,
): Promise<Partial<Repair> & Pick<Repair, 'examination'>> => ({
  examination: await examineStore(options),
});

/**
 * Extends the error of a wrong secret. A missing slot looks like a wrong secret: only the sealed list of slots is
 * complete.
 */
function aboutSlots(error: unknown): never {
  if (!(error instanceof CofferError) || error.kind !== 'denied') throw error;
  const { kind, message, hint, cause } = error;
  const advice =
    'if that was right before, its slot is missing: run this again with another secret, which tells';
  throw new CofferError(kind, message, { hint: hint === undefined ? advice : `${hint}; ${advice}`, cause });
}

async function printExamination(
  session: Session,
  examination: Examination,
  mended: readonly Mended[] | undefined,
): Promise<void> {
  const { checked, unlocked, findings } = examination;
  const checkedText = `Checked ${checked} ${checked === 1 ? 'file' : 'files'}`;
  if (session.settings.format === 'json' || findings.length > 0) {
    const shape = { table: () => findingTable(findings) };
    await printResult(session, mended === undefined ? examination : { ...examination, mended }, shape);
  }
  for (const { file, done } of mended ?? []) session.say(`Mended: ${file} ${done}.`);
  if (mended?.length === 0) session.say('There was nothing to mend.');
  if (findings.length === 0) session.say(`${checkedText}: all is well.`);
  else session.fail(`${checkedText}: ${findings.length} of them damaged or out of place`);
  if (!unlocked) session.warn('the store could not be unlocked, so documents were not checked');
}

const findingTable = (findings: readonly Finding[]) => ({
  head: ['File', 'What is wrong', 'What to do'],
  rows: findings.map((finding) => [finding.file, findingText(finding), finding.hint ?? '']),
});

const UNVERIFIED: OptionSpec = {
  flag: 'unverified',
  takes: 'nothing',
  help: 'Take everything as it is, with no secret: damage goes along, and nobody is told.',
  excludes: [WITHOUT_DAMAGED.flag],
};

/** Returns the options with which a command verifies the store. Opening it throws `sealed` if no secret is given. */
const verification = (session: Session, { options }: Given): VerifyOptions =>
  options.has(UNVERIFIED.flag)
    ? {}
    : { credentials: credentialsFor(session), withoutDamaged: options.has(WITHOUT_DAMAGED.flag) };

/** Runs `work`. Errors name the damage, and the option to continue without a secret. */
const verifying = <T>(session: Session, work: () => Promise<T>): Promise<T> =>
  namingDamage(session, work).catch((error: unknown) => {
    if (!(error instanceof CofferError) || error.kind !== 'sealed') throw error;
    const { kind, message, hint, cause } = error;
    const advice = 'unlock it so that it can be verified, see "coffer help environment", or say --unverified';
    throw new CofferError(kind, message, { hint: hint === undefined ? advice : `${hint}; ${advice}`, cause });
  });

export const backup: Command = {
  arguments: [{ metavar: 'FILE', help: 'The file to make.', required: true, offers: 'file' }],
  options: [WITHOUT_DAMAGED, UNVERIFIED, forceOption],
  details:
    'The backup is the store as it is at one moment, even while others write. It stays sealed: it opens with the same secrets. ' +
    'Everything is verified on the way, which takes one of the secrets; damage makes the exit code 1, and no backup is made. ' +
    'One that is there is replaced only with --force.',
  examples: [['coffer store backup coffer.backup', 'One file, mode 0600, written whole or not at all']],
  async run(session, given) {
    session.refuseRemote();
    const [file = ''] = given.arguments;
    const location = session.settings.storeLocation;
    const replace = await mayReplace(session, [file], given.options.has(FORCE));
    const summary = await verifying(session, () =>
      backupStore({ location, to: file, replace, ...verification(session, given) }),
    );
    await printDocument(session, summary);
    sayLeftOut(session, summary.leftOut);
    session.say(`Wrote ${summary.files} files to ${file}.`);
    return DONE;
  },
};

export const restore: Command = {
  arguments: [
    { metavar: 'FILE', help: 'A file made by "coffer store backup".', required: true, offers: 'file' },
  ],
  options: [WITHOUT_DAMAGED, UNVERIFIED],
  details:
    "There must be no store yet, and nothing else in the directory. The store's secrets are those of the time of the backup; one of " +
    'them is needed, because everything is verified on the way. Damage makes the exit code 1, and nothing is made.',
  examples: [['coffer store restore coffer.backup --store ./restored', 'Bring it back beside the old one']],
  async run(session, given) {
    session.refuseRemote();
    const [file = ''] = given.arguments;
    const location = session.settings.storeLocation;
    const summary = await verifying(session, () =>
      restoreStore({ from: file, location, ...verification(session, given) }),
    );
    await forgetLastSeen(session, summary.id, location);
    await printDocument(session, summary);
    sayLeftOut(session, summary.leftOut);
    session.say(`Restored ${summary.files} files to ${await printLocation(location)}.`);
    return DONE;
  },
};

/**
 * Forgets the last state seen, since a user who restores a store knows that it may be older than the one that was
 * there.
 */
const forgetLastSeen = (session: Session, id: string, location: Location): Promise<void> =>
  withBackendAt(location, async ({ place }) => LastSeen.of(session.environment, id, place)?.forget());

export const accept: Command = {
  arguments: [],
  options: [],
  details:
    'After a backup was put in the place of a store, or a database has lost its last changes, servers and other running ' +
    'programs refuse the store, because it is behind what they have seen. This tells them that it is right as it is: the ' +
    'revision goes on above all that were seen, and they take it up by themselves, tokens and keys of then included.',
  examples: [['coffer store accept', 'Go on with the state that is there']],
  async run(session) {
    session.refuseRemote();
    session.requireConsent();
    const store = await unlockStore(session);
    try {
      const { backend, id } = store;
      const place = printPlace(backend.place);
      const question = async () =>
        `Go on with the store in ${place} as it is (${printVersion(await backend.state())})? What was changed after that is given up, and tokens that were revoked after that are good again.`;
      if (!(await session.confirmed(question))) return FAILED;
      const last = LastSeen.of(session.environment, id, backend.place);
      const accepted = await store.accept(last?.version?.revision ?? 0);
      last?.forget();
      await printDocument(session, { id, ...accepted });
      session.say(`Accepted ${printVersion(accepted.from)}. It goes on at ${printVersion(accepted.to)}.`);
    } finally {
      store.close();
    }
    return DONE;
  },
};

const PLACE = `a ${locationForms}`;

export const copy: Command = {
  arguments: [
    { metavar: 'FROM', help: `The store: ${PLACE}.`, required: true, offers: 'directory' },
    { metavar: 'TO', help: `Where no store is yet: ${PLACE}.`, required: true, offers: 'directory' },
  ],
  options: [WITHOUT_DAMAGED, UNVERIFIED],
  details:
    'The copy stays sealed: the same secrets open it. Everything is verified on the way, which takes one of them; damage makes ' +
    'the exit code 1, and there is no copy. It is compared with the original before it counts as a store. When it is cut short, the same command goes on from there. Stop what writes to FROM first, and use ' +
    'only one of the two afterwards.',
  examples: [
    ['coffer store copy ./store postgres://coffer@db.example.com/coffer', 'From one machine to a fleet'],
    ['coffer store copy postgres://coffer@db.example.com/coffer ./store', 'And back'],
  ],
  async run(session, given) {
    session.refuseRemote();
    const [from = '', to = ''] = given.arguments;
    const locationOf = (text: string): Location =>
      locationFrom(text, (name) => variable(session.environment, name));
    const source = locationOf(from);
    const target = locationOf(to);
    const summary = await verifying(session, () =>
      watched(session, (onProgress) =>
        copyStore({ from: source, to: target, onProgress, ...verification(session, given) }),
      ),
    );
    await forgetLastSeen(session, summary.id, target);
    await printDocument(session, summary);
    sayLeftOut(session, summary.leftOut);
    session.say(`Copied ${summary.files} files to ${await printLocation(target)}.`);
    return DONE;
  },
};

export const migrate: Command = {
  arguments: [],
  options: [],
  details:
    'To be run by a role that may make and alter tables; everything else needs only to read and change rows. Does nothing ' +
    'when the tables are of this version already, and nothing to a directory.',
  examples: [
    [
      'coffer store migrate --store postgres://owner@db.example.com/coffer',
      'After installing a Coffer that needs newer tables',
    ],
  ],
  async run(session) {
    session.refuseRemote();
    const location = session.settings.storeLocation;
    const migration = (await migrateAt(location)) ?? { from: 0, to: 0 };
    await printDocument(session, migration);
    const { from, to } = migration;
    const place = await printLocation(location);
    if (from === to) session.say(`There is nothing to do in ${place}.`);
    else if (from === 0) session.say(`Made the tables in ${place}, version ${to}.`);
    else session.say(`Brought the tables in ${place} from version ${from} to ${to}.`);
    return DONE;
  },
};
