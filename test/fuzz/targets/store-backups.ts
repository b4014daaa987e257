import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backupStore, restoreStore } from '../../../src/store/administration/backup.ts';
import { createAt } from '../../../src/store/backends/registry.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Chance } from '../../chance.ts';
import { shorterBytes, spoiledBytes } from '../mutation.ts';
import { fillSample, readAll, sampleContent } from '../sample-store.ts';
import type { Secrets } from '../secrets.ts';
import { Defect, target, type World } from '../target.ts';

const MAGIC_BYTES = 9;
const END_BYTES = 41;

/** A file that is or was a backup. */
interface Backup {
  readonly bytes: Buffer;
  /** The checksum at its end is that of what stands before it. */
  readonly checked: boolean;
}

async function open(_chance: Chance, secrets: Secrets): Promise<World<Backup>> {
  const place = mkdtempSync(join(tmpdir(), 'coffer-fuzz-backup-'));
  const { content, credentials } = await sampleContent(secrets, false);
  const template = join(place, 'template');
  await createAt(template, content);
  const store = await openStore({ location: template, credentials: credentials.key });
  await fillSample(store, secrets);
  store.close();
  const from = join(place, 'backup');
  await backupStore({ location: template, to: from });
  const backup = readFileSync(from);
  rmSync(template, { recursive: true });
  const records = recordsOf(backup);
  const directory = join(place, 'restored');
  return {
    generate: (chance) => generate(chance, backup, records),
    async check({ bytes, checked }) {
      writeFileSync(from, bytes);
      const restored = await secrets.outcome(() => restoreStore({ from, location: directory }));
      if ('refused' in restored) {
        if (existsSync(directory)) throw new Defect('a refused backup left something behind');
        if (!restored.refused.message.includes(from))
          throw new Defect(`no file is named: ${restored.refused.message}`);
        return;
      }
      if (!checked && !bytes.equals(backup)) throw new Defect('a changed backup was restored');
      const opened = await secrets.outcome(() =>
        openStore({ location: directory, credentials: credentials.key }),
      );
      if ('value' in opened) {
        const refusals = await readAll(opened.value, secrets);
        opened.value.close();
        if (bytes.equals(backup) && refusals > 0) throw new Defect('a whole backup is not all there');
      }
      rmSync(directory, { recursive: true });
      if (readdirSync(place).join() !== 'backup') throw new Defect('something else was written');
    },
    print: ({ bytes, checked }) => `${checked} ${bytes.toString('hex')}`,
    *simpler({ bytes, checked }) {
      if (!checked) for (const shorter of shorterBytes(bytes)) yield { bytes: shorter, checked };
    },
    close: () => rmSync(place, { recursive: true, force: true }),
  };
}

/** The records between the magic and the end. */
function recordsOf(backup: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (let at = MAGIC_BYTES; at < backup.length - END_BYTES; ) {
    const nameBytes = backup.readUInt32BE(at + 1);
    const end = at + 9 + nameBytes + backup.readUInt32BE(at + 5 + nameBytes);
    records.push(backup.subarray(at, end));
    at = end;
  }
  return records;
}

function generate(chance: Chance, backup: Buffer, records: readonly Buffer[]): Backup {
  if (chance.oneIn(100)) return { bytes: backup, checked: true };
  if (chance.oneIn(3)) return { bytes: spoiledBytes(chance, backup, records), checked: false };
  const changed = [...records];
  const at = chance.below(changed.length);
  const way = chance.below(5);
  if (way === 0) changed.splice(at, 1);
  else if (way === 1) changed.splice(at, 0, chance.pick(records));
  else if (way === 2)
    [changed[0], changed[at]] = [changed[at] ?? Buffer.alloc(0), changed[0] ?? Buffer.alloc(0)];
  else changed[at] = spoiledBytes(chance, changed[at] ?? Buffer.alloc(0), records);
  return { bytes: closed(backup.subarray(0, MAGIC_BYTES), changed), checked: true };
}

/** A backup of these records with a right checksum at its end. */
function closed(magic: Buffer, records: readonly Buffer[]): Buffer {
  const before = Buffer.concat([magic, ...records]);
  const head = Buffer.from([5, 0, 0, 0, 0, 0, 0, 0, 32]);
  return Buffer.concat([before, head, createHash('sha256').update(before).digest()]);
}

export const storeBackups = target<Backup>({ name: 'store-backups', cases: 500, open });
