import { expect, it } from 'vitest';
import { runStruckHere } from './errors/struck-here.ts';
import { runStruck, undisturbed } from './struck-process.ts';
import { usualTemplate } from './template.ts';
import { peopleWrites } from './writes.ts';

const template = usualTemplate();

it('a commit whose writer was killed is on disk as decided before whoever comes next puts any of it into place', async () => {
  const [first, , create] = peopleWrites;
  if (first === undefined || create === undefined) throw new Error('there is nothing to write');
  const { calls } = await undisturbed(create, template());
  const decision = calls.findIndex(({ kind, to }) => kind === 'rename' && to?.endsWith('/state/commit'));
  expect(decision).toBeGreaterThan(0);
  const box = template().copy();
  // Decided, and the sync that makes it last was not reached.
  await runStruck(box, create.words(box), create.input, { at: decision + 2, fault: { kind: 'kill' } });
  const next = await runStruckHere(box, first, 'changes');
  expect(next.exitCode).toBe(0);
  const synced = next.calls.findIndex(({ kind, path }) => kind === 'sync' && path.endsWith('/state'));
  const applied = next.calls.findIndex(({ to }) => to?.includes('/generation-'));
  expect(applied).toBeGreaterThan(0);
  expect(synced).toBeGreaterThanOrEqual(0);
  expect(synced).toBeLessThan(applied);
  box.remove();
});
