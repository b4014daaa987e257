import { readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import { oneOutOf } from '../../sampled.ts';
import { seeded } from '../../seeded.ts';
import { fileAt } from '../picture.ts';
import { copiesAt, runStruck, undisturbed } from '../struck-process.ts';
import { usualTemplate } from '../template.ts';
import { fileWrites, keyWrites, storeWrites, type Write } from '../writes.ts';
import { killsAt } from './everywhere.ts';

const template = usualTemplate();
const NAMES = ['transit keys create fresh', 'rekey', 'envelope encrypt --out', 'envelope rewrap'];
const writes = [...keyWrites, ...storeWrites, ...fileWrites].filter(({ name }) => NAMES.includes(name));

/** What names have of the process, the moment or the file itself. */
const ITS_OWN = /(?<=\/seen\/.*)\.\d+\.[\d.]+$|(?<=\/sync-)\d+/;
/** Of these files only the size is the same each time: keys of slots are drawn by OpenSSL itself. */
const DRAWN = /\/slots\//;

/** Everything below a directory: modes and contents. */
const diskAt = (root: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => [name.replace(ITS_OWN, ''), whatIs(join(root, name))]),
  );

function whatIs(path: string): string {
  const stats = statSync(path);
  const mode = (stats.mode & 0o777).toString(8);
  if (!stats.isFile()) return `${mode} a directory`;
  return `${mode} ${DRAWN.test(path) ? stats.size : fileAt(path)}`;
}

it.each(writes)('what is copied at a moment of "$name" is what a kill leaves there', async (write: Write) => {
  const { calls } = await undisturbed(write, template(), { inTurn: true });
  const kills = oneOutOf(isLong ? 10 : 40, killsAt(calls), seeded());
  const box = template().copy();
  const copies = await copiesAt(box, write, kills);
  for (const [number, kill] of kills.entries()) {
    copies.put(number);
    const copied = diskAt(box.root);
    box.remove();
    renameSync(template().copy().root, box.root);
    const { end } = await runStruck(box, write.words(box), write.input, { ...kill, inTurn: true });
    expect(end).toBe('SIGKILL');
    expect(copied, kill.name).toEqual(diskAt(box.root));
  }
  copies.remove();
  box.remove();
});
