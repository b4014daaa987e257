import { printPlace } from '../../ground/errors.ts';
import { backupStore, restoreStore } from '../../store/administration/backup.ts';
import { copyStore } from '../../store/administration/copy.ts';
import { type Examination, examineStore } from '../../store/administration/doctor.ts';
import type { Finding } from '../../store/administration/status.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import {
  locationForms,
  locationFrom,
  migrateAt,
  printLocation,
  withBackendAt,
} from '../../store/backends/registry.ts';
import { printVersion } from '../../store/backends/version.ts';
import type { Command } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { variable } from '../given.ts';
import { LastSeen } from '../last-seen.ts';
import { credentialsFor, unlockStore } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';
import { printDocument, printResult } from '../terminal/output.ts';
import { watched } from '../terminal/progress.ts';

export const doctor: Command = {
  arguments: [],
  options: [],
  details:
    'Changes nothing. Damage makes the exit code 1; each damaged file is printed with what is wrong and what to do.',
  examples: [
    ['coffer doctor', 'Check the whole store'],
    ["coffer doctor -o json | jq -r '.findings[].file'", 'The damaged files alone'],
  ],
  async run(session) {
    session.refuseRemote();
    const location = session.settings.storeLocation;
    const credentials = credentialsFor(session);
    const examination = await watched(session, (onProgress) =>
      examineStore({ location, credentials, onProgress }),
    );
    await printExamination(session, examination);
    return examination.findings.length === 0 ? DONE : FAILED;
  },
};

async function printExamination(session: Session, examination: Examination): Promise<void> {
  const { checked, unlocked, findings } = examination;
  const checkedText = `Checked ${checked} ${checked === 1 ? 'file' : 'files'}`;
  if (session.settings.format === 'json' || findings.length > 0) {
    const shape = { table: () => findingTable(findings) };
    await printResult(session, examination, shape);
  }
  if (findings.length === 0) session.say(`${checkedText}: all is well.`);
  else session.fail(`${checkedText}: ${findings.length} of them damaged or out of place`);
  if (!unlocked) session.warn('the store could not be unlocked, so documents were not checked');
}

const findingTable = (findings: readonly Finding[]) => ({
  head: ['File', 'What is wrong', 'What to do'],
  rows: findings.map(({ file, reason, hint }) => [file, reason, hint ?? '']),
});

export const backup: Command = {
  arguments: [
    { metavar: 'FILE', help: 'The file to make; it must not exist yet.', required: true, offers: 'file' },
  ],
  options: [],
  details:
    'The backup is the store as it is at one moment, even while others write. It stays sealed: it opens with the same secrets.',
  examples: [['coffer store backup coffer.backup', 'One file, mode 0600, written whole or not at all']],
  async run(session, { arguments: [file = ''] }) {
    session.refuseRemote();
    const summary = await backupStore({ location: session.settings.storeLocation, to: file });
    await printDocument(session, summary);
    session.say(`Wrote ${summary.files} files to ${file}.`);
    return DONE;
  },
};

export const restore: Command = {
  arguments: [
    { metavar: 'FILE', help: 'A file made by "coffer store backup".', required: true, offers: 'file' },
  ],
  options: [],
  details:
    "There must be no store yet, and nothing else in the directory. The store's secrets are those of the time of the backup.",
  examples: [['coffer store restore coffer.backup --store ./restored', 'Bring it back beside the old one']],
  async run(session, { arguments: [file = ''] }) {
    session.refuseRemote();
    const location = session.settings.storeLocation;
    const summary = await restoreStore({ from: file, location });
    await forgetLastSeen(session, summary.id, location);
    await printDocument(session, summary);
    session.say(`Restored ${summary.files} files to ${await printLocation(location)}.`);
    return DONE;
  },
};

/** Whoever puts a store into a place knows that it may be an older one than was there. */
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
  options: [],
  details:
    'The copy stays sealed: no secret is needed, and the same secrets open it. It is compared with the original before it ' +
    'counts as a store. When it is cut short, the same command goes on from there. Stop what writes to FROM first, and use ' +
    'only one of the two afterwards.',
  examples: [
    ['coffer store copy ./store postgres://coffer@db.example.com/coffer', 'From one machine to a fleet'],
    ['coffer store copy postgres://coffer@db.example.com/coffer ./store', 'And back'],
  ],
  async run(session, { arguments: [from = '', to = ''] }) {
    session.refuseRemote();
    const locationOf = (text: string): Location =>
      locationFrom(text, (name) => variable(session.environment, name));
    const source = locationOf(from);
    const target = locationOf(to);
    const summary = await watched(session, (onProgress) =>
      copyStore({ from: source, to: target, onProgress }),
    );
    await forgetLastSeen(session, summary.id, target);
    await printDocument(session, summary);
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
