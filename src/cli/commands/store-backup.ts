import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '../../ground/clock.ts';
import { attempt } from '../../ground/errors.ts';
import {
  backupStore,
  isUnfinishedOf,
  restoreStore,
  verifyBackup,
} from '../../store/administration/backup.ts';
import { printLocation } from '../../store/backends/registry.ts';
import { argument, type OwnCommand } from '../command.ts';
import { heldBackupPath, refuseTerminal, takeHeld, withBackupFrom } from '../files/backup-streams.ts';
import { STANDARD } from '../files/input.ts';
import { mayReplace } from '../files/out-file.ts';
import { printDocument } from '../files/output.ts';
import { FORCE, forceOption } from '../parse/operation-spec.ts';
import { interruptible } from '../processes/interruptible.ts';
import { credentialsFor } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';
import {
  forgetLastSeen,
  sayLeftOut,
  UNVERIFIED,
  unlocking,
  verification,
  verifying,
  WITHOUT_DAMAGED,
} from './whole-store.ts';

export const backup: OwnCommand = {
  arguments: [argument('FILE', 'Backup file to create; "-" writes to standard output.', { offers: 'file' })],
  options: [WITHOUT_DAMAGED, UNVERIFIED, { ...forceOption, help: 'Overwrite FILE if it exists.' }],
  details:
    'A backup is a consistent snapshot, even while other processes write. It stays encrypted and is unlocked by ' +
    'the same secrets as the store. Everything is verified while it is copied, so one of these secrets is ' +
    'required, even while the store is unlocked. If anything is damaged, no backup is written and the exit code ' +
    'is 1. An existing FILE is only overwritten with --force. A backup that is killed leaves an incomplete file FILE.….new.',
  examples: [
    ['coffer store backup coffer.backup', 'Write a backup file that only you can read'],
    [
      "coffer store backup - | ssh backup.example.com 'cat > coffer.backup'",
      'Write the backup to another machine',
    ],
  ],
  async run(session, given) {
    session.refuseRemote();
    const [file = ''] = given.arguments;
    const location = session.settings.storeLocation;
    const isPrinted = file === STANDARD;
    if (isPrinted) refuseTerminal(session);
    const replace = !isPrinted && (await mayReplace(session, [file], given.options.has(FORCE)));
    const to = isPrinted ? heldBackupPath() : file;
    const { summary, print } = await verifying(session, location, () =>
      interruptible(async (interruption) => {
        const options = { ...verification(session, given, location), interruption };
        const summary = await backupStore({ location, to, replace, ...options });
        return { summary, print: isPrinted ? takeHeld(to) : undefined };
      }),
    );
    if (print === undefined) await printDocument(session, summary);
    else await print(session);
    sayLeftOut(session, summary.leftOut);
    if (!isPrinted) warnOfUnfinished(session, file);
    const place = isPrinted ? 'standard output' : file;
    session.say(`Backed up the store to ${place} (${summary.files} files). The same secrets unlock it.`);
  },
};

/** Time without a write after which an unfinished backup is said to be left over, in milliseconds. */
const LEFT_AFTER_MS = 60_000;

/** Warns of what killed backups have left beside the file. It is not deleted: another machine may be writing it. */
function warnOfUnfinished(session: Session, file: string): void {
  const names = attempt(() => readdirSync(dirname(file))) ?? [];
  for (const name of names.filter((name) => isUnfinishedOf(name, basename(file)))) {
    const path = join(dirname(file), name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (changed !== undefined && systemClock.now() - changed > LEFT_AFTER_MS)
      session.warn(
        `${path} is probably left over from a killed backup (delete it if no backup to ${file} is running)`,
      );
  }
}

export const restore: OwnCommand = {
  arguments: [argument('FILE', 'Backup file to restore; "-" reads standard input.', { offers: 'file' })],
  options: [WITHOUT_DAMAGED, UNVERIFIED],
  details:
    'The target must be an empty directory or not exist. The restored store is unlocked by the secrets that the ' +
    'store had when it was backed up. One of these secrets is required, because everything is verified. If ' +
    'anything is damaged, nothing is restored and the exit code is 1. To restore a single key, restore the store ' +
    'to another directory, then copy the key with "coffer transit backup" and "coffer transit restore".',
  examples: [
    ['coffer store restore coffer.backup --store ./restored', 'Restore to the new directory ./restored'],
    [
      "ssh backup.example.com 'cat coffer.backup' | coffer store restore -",
      'Restore a backup that is on another machine',
    ],
  ],
  async run(session, given) {
    session.refuseRemote();
    const [file = ''] = given.arguments;
    const location = session.settings.storeLocation;
    const summary = await verifying(session, undefined, () =>
      withBackupFrom(session, file, (from) =>
        interruptible((interruption) =>
          restoreStore({ from, location, interruption, ...verification(session, given) }),
        ),
      ),
    );
    await forgetLastSeen(session, summary.id, location);
    await printDocument(session, summary);
    sayLeftOut(session, summary.leftOut);
    session.say(`Restored ${summary.files} files to ${await printLocation(location)}.`);
  },
};

export const verify: OwnCommand = {
  arguments: [argument('FILE', 'Backup file to check; "-" reads standard input.', { offers: 'file' })],
  details:
    'Reads the backup as "coffer store restore" does, but writes nothing. Decrypts everything in the backup, ' +
    'and checks that its indexes are correct. One of the secrets that the store had when it was backed up is required. If ' +
    'the file or anything in it is damaged, the exit code is 1. To check the store itself, run "coffer doctor".',
  examples: [
    ['coffer store verify coffer.backup', 'Check that a backup can be restored'],
    [
      "ssh backup.example.com 'cat coffer.backup' | coffer store verify -",
      'Check a backup that is on another machine',
    ],
  ],
  async run(session, given) {
    session.refuseRemote();
    const [file = ''] = given.arguments;
    const summary = await unlocking(session, undefined, () =>
      withBackupFrom(session, file, (from) => verifyBackup({ from, credentials: credentialsFor(session) })),
    );
    await printDocument(session, summary);
    session.say(`The backup is complete and undamaged (${summary.files} files).`);
  },
};
