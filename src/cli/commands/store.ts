import { basename } from 'node:path';
import {
  asCofferError,
  CofferError,
  closing,
  exists,
  expected,
  printPlace,
  withOtherHint,
} from '../../ground/errors.ts';
import { copyStore } from '../../store/administration/copy.ts';
import {
  type Examination,
  examineStore,
  type Mended,
  type Repair,
  repairStore,
} from '../../store/administration/repair.ts';
import type { Finding } from '../../store/administration/status.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { locationForms, locationFrom, migrateAt, printLocation } from '../../store/backends/registry.ts';
import { printVersion } from '../../store/backends/witness.ts';
import { sayWhyAsked } from '../agent/managing.ts';
import { type OwnCommand, switching } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { isBrief, printDocument, printResult } from '../files/output.ts';
import { variable } from '../given.ts';
import { LastSeen } from '../last-seen.ts';
import { unlockStore } from '../secrets/unlock.ts';
import { advisedToManage } from '../secrets/unlock-advice.ts';
import type { Session } from '../session.ts';
import { refuseUnmeantPlace } from '../settings.ts';
import { messageLine } from '../terminal/message.ts';
import { watched } from '../terminal/progress.ts';
import { visible } from '../terminal/visible.ts';
import {
  explainedCredentials,
  findingText,
  forgetLastSeen,
  sayLeftOut,
  UNVERIFIED,
  verification,
  verifying,
  WITHOUT_DAMAGED,
} from './whole-store.ts';

const REPAIR = 'repair';

export const doctor: OwnCommand = {
  options: [switching(REPAIR, 'Repair what can be repaired without data loss.')],
  details:
    'Changes nothing without --repair. Lists each damaged file with the problem and what to do about it, and the ' +
    'copies of damaged files that a repair kept. Exits with 1 if anything is listed; with --repair, only if ' +
    'something remains or is lost. Asks for the ' +
    'passphrase even while the store is unlocked. Missing documents (such as keys and tokens) are listed; they ' +
    'cannot be recovered.',
  examples: [
    ['coffer doctor', 'Check the store'],
    [
      'coffer doctor --repair',
      'Repair the state file, indexes, lock and file modes, and remove leftovers of killed writers',
    ],
    ["coffer doctor -o json | jq -r '.findings[].file'", 'List only the damaged files'],
  ],
  async run(session, { options }) {
    session.refuseRemote();
    const location = session.settings.storeLocation;
    const credentials = explainedCredentials(session, location);
    const { mended, examination } = await watched(
      session,
      async (onProgress): Promise<Partial<Repair> & Pick<Repair, 'examination'>> => {
        const request = { location, credentials, onProgress };
        return options.has(REPAIR) ? repairStore(request) : { examination: await examineStore(request) };
      },
    )
      .catch(aboutSlots)
      .catch(async (error: unknown) => {
        throw await advisedToManage(session, error, location);
      });
    await printExamination(session, hintedHere(session, examination), mended);
    return examination.findings.length === 0 ? DONE : FAILED;
  },
};

/**
 * Extends the error of a wrong secret. A missing slot looks like a wrong secret: only the sealed list of slots is
 * complete.
 */
function aboutSlots(error: unknown): never {
  if (!(error instanceof CofferError) || error.kind !== 'denied') throw error;
  const { kind, message, hint, cause } = error;
  const advice =
    'if this secret unlocked the store before, its key slot may be missing: run this again with another secret to find out';
  throw new CofferError(kind, message, { hint: hint === undefined ? advice : `${hint}; ${advice}`, cause });
}

/** Returns the result with fixes for the store that was named, to paste from any output. */
const hintedHere = (session: Session, examination: Examination): Examination => ({
  ...examination,
  findings: examination.findings.map((finding) =>
    finding.hint === undefined ? finding : { ...finding, hint: session.hintHere(finding.hint) },
  ),
});

async function printExamination(
  session: Session,
  examination: Examination,
  mended: readonly Mended[] | undefined,
): Promise<void> {
  const { checked, unlocked, findings } = examination;
  const checkedText = `Checked ${checked} ${checked === 1 ? 'file' : 'files'}`;
  if (session.settings.format === 'json' || findings.length > 0) {
    const brief = isBrief(session);
    const shape = { table: () => findingTable(findings, brief) };
    await printResult(session, mended === undefined ? examination : { ...examination, mended }, shape);
    if (brief) printFixes(session, findings);
  }
  for (const { file, done } of mended ?? []) session.say(`Repaired: ${file} ${done}.`);
  if (mended?.length === 0)
    session.say(findings.length === 0 ? 'Nothing to repair.' : 'Nothing can be repaired.');
  if (findings.length === 0) session.say(`${checkedText}: no problems found.`);
  else
    session.fail(
      `${checkedText}: ${findings.length === 1 ? '1 problem' : `${findings.length} problems`} found`,
    );
  if (!unlocked)
    session.warn('the store could not be unlocked, so only its files were checked, not their contents');
}

const findingTable = (findings: readonly Finding[], isBrief: boolean) => ({
  head: ['File', 'Problem', ...(isBrief ? [] : ['Fix'])],
  rows: findings.map((finding) => [
    ...[finding.file, findingText(finding)],
    ...(isBrief ? [] : [finding.hint ?? '']),
  ]),
});

/** Number of files up to which a fix that is not for all names its files. */
const MOST_NAMED = 3;

/** Prints each fix once. */
function printFixes(session: Session, findings: readonly Finding[]): void {
  const byFix = Map.groupBy(findings, ({ hint }) => hint);
  const { out } = session.streams;
  for (const [hint, found] of byFix) {
    if (hint === undefined) continue;
    const named = found.map(({ file }) => basename(file)).join(', ');
    const files = found.length > MOST_NAMED ? `${found.length} files` : named;
    const which = byFix.size === 1 ? '' : ` ${files}`;
    out.write(messageLine(out, visible(`To fix${which}: ${hint}.`)));
  }
}

export const accept: OwnCommand = {
  details:
    'After a store is replaced by a backup, or a database loses its latest changes, running servers and agents ' +
    'refuse the store because it is older than the state that they saw last. This command makes them accept and ' +
    'use the store. Tokens and keys are those of the older state: tokens revoked since then are valid again.',
  examples: [['coffer store accept', 'Accept the store as it is now']],
  async run(session) {
    session.refuseRemote();
    session.requireConsent();
    await sayWhyAsked(session);
    return closing(await unlockStore(session, { manages: true }), async (store) => {
      const { backend, id } = store;
      const place = printPlace(backend.place);
      const question = async () =>
        `Accept the store in ${place} as it is (${printVersion(await backend.state())})? Later changes are lost, and tokens revoked since then become valid again.`;
      if (!(await session.confirmed(question))) return FAILED;
      const last = LastSeen.of(session.environment, id, backend.place);
      const accepted = await store.accept(last?.version?.revision ?? 0);
      last?.forget();
      await printDocument(session, { id, ...accepted });
      session.say(
        `Accepted ${printVersion(accepted.from)}; the store continues at ${printVersion(accepted.to)}.`,
      );
      return DONE;
    });
  },
};

const PLACE = `a ${locationForms}`;

export const copy: OwnCommand = {
  arguments: [
    { metavar: 'FROM', help: `Store to copy: ${PLACE}.`, required: true, offers: 'directory' },
    { metavar: 'TO', help: `New location: ${PLACE}.`, required: true, offers: 'directory' },
  ],
  options: [WITHOUT_DAMAGED, UNVERIFIED],
  details:
    'The copy stays encrypted and is unlocked by the same secrets as the original. Everything is verified while ' +
    'it is copied, so one of these secrets is required. If anything is damaged, no copy is made and the exit ' +
    'code is 1. The copy is compared with the original before it becomes usable. If the command is interrupted, ' +
    'run it again to continue. Stop all writers to FROM first, and use only one of the two stores afterwards.',
  examples: [
    ['coffer store copy ./store /mnt/backup/store', 'Copy to another disk'],
    [
      'coffer store copy ./store postgres://coffer@db.example.com/coffer',
      'Copy a local directory to PostgreSQL, to use that from then on',
    ],
    [
      'coffer store copy postgres://coffer@db.example.com/coffer ./store',
      'Copy from PostgreSQL to a local directory',
    ],
  ],
  async run(session, given) {
    session.refuseRemote();
    const [from = '', to = ''] = given.arguments;
    const locationOf = (text: string, field: string): Location => {
      refuseUnmeantPlace(text, field);
      return locationFrom(text, (name) => variable(session.environment, name));
    };
    const source = locationOf(from, 'FROM');
    const target = locationOf(to, 'TO');
    const summary = await verifying(session, source, () =>
      watched(session, (onProgress) =>
        copyStore({ from: source, to: target, onProgress, ...verification(session, given, source) }),
      ),
    ).catch(namingPlaces);
    await forgetLastSeen(session, summary.id, target);
    await printDocument(session, summary);
    sayLeftOut(session, summary.leftOut);
    session.say(`Copied ${summary.files} files to ${await printLocation(target)}.`);
  },
};

/** Names the argument to change: the hints about a store that exists or not name --store, which is not used here. */
function namingPlaces(error: unknown): never {
  const missing = asCofferError(error);
  if (missing?.kind === 'not-found' && missing.message.startsWith('no store in '))
    throw withOtherHint(missing, 'give the location of an existing store for FROM');
  const known = expected(error, 'exists');
  throw exists(known.texts.message, { hint: 'choose another location for TO', cause: error });
}

export const migrate: OwnCommand = {
  details:
    'Run this command as a database role that may create and alter tables; all other commands only read and ' +
    'write rows. Does nothing if the tables are up to date, or if the store is a directory.',
  examples: [
    [
      'coffer store migrate --store postgres://owner@db.example.com/coffer',
      'Upgrade the tables after installing a newer Coffer',
    ],
  ],
  async run(session) {
    session.refuseRemote();
    const location = session.settings.storeLocation;
    const migrated = await migrateAt(location);
    const migration = migrated ?? { from: 0, to: 0 };
    await printDocument(session, migration);
    const { from, to } = migration;
    const place = await printLocation(location);
    if (migrated === undefined) session.say(`Nothing to do: the store in ${place} is a directory.`);
    else if (from === to) session.say(`The tables in ${place} are up to date.`);
    else if (from === 0) session.say(`Created the tables in ${place} (version ${to}).`);
    else session.say(`Upgraded the tables in ${place} from version ${from} to ${to}.`);
  },
};
