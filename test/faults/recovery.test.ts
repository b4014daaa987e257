import { expect, it } from 'vitest';
import { runStruckHere } from './errors/struck-here.ts';
import { runStruck, undisturbed } from './struck-process.ts';
import { usualTemplate } from './template.ts';
import { peopleWrites } from './writes.ts';

const template = usualTemplate();

it('a change whose writer was killed is written and synced again before whoever comes next adds another', async () => {
  const [first, , create] = peopleWrites;
  if (first === undefined || create === undefined) throw new Error('there is nothing to write');
  const { calls } = await undisturbed(create, template());
  const isOfLog = (path: string): boolean => /\/log\/\d+$/.test(path);
  const synced = calls.findIndex(({ kind, path }) => kind === 'sync' && isOfLog(path));
  expect(synced).toBeGreaterThan(0);
  const box = template().copy();
  // The record is whole, and the sync that makes it last was not reached.
  await runStruck(box, create.words(box), create.input, { at: synced + 1, fault: { kind: 'kill' } });
  const next = await runStruckHere(box, first, 'changes');
  expect(next.exitCode).toBe(0);
  const steps = next.calls.flatMap(({ kind, path, to }) => {
    if (isOfLog(path) && (kind === 'write' || kind === 'sync')) return [kind];
    return to?.includes('/state/') ? ['shown'] : [];
  });
  expect(steps).toEqual(['write', 'sync', 'shown', 'write', 'sync', 'shown']);
  box.remove();
});
