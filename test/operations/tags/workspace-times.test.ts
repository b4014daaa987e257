import { expect, it } from 'vitest';
import { TagsApi } from './tags-api.ts';

interface Shown {
  readonly data: { readonly attributes: Readonly<Record<string, unknown>> };
}

it('a workspace says when it was made, and when it was changed last', async () => {
  let now = Date.parse('2026-01-02T03:04:05.678Z');
  const timed = await TagsApi.open({ clock: { now: () => now } });
  const [id = ''] = await timed.organization('timed', ['w']);
  now += 60_000;
  const attributes = { description: 'changed' };
  const changed = await timed.ask<Shown>(
    'workspaces update',
    { workspace_id: id },
    {
      data: { type: 'workspaces', attributes },
    },
  );
  expect(changed.data.attributes).toMatchObject({
    'created-at': '2026-01-02T03:04:05.678Z',
    'updated-at': '2026-01-02T03:05:05.678Z',
  });
});
