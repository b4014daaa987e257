import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { AGENT_DOORS } from '../../../src/doors/agent/registry.ts';

it('systemd is told to hold a socket for each door, in their order', () => {
  const unit = '../../../scripts/release/debian/coffer-agent@.socket';
  const text = readFileSync(new URL(unit, import.meta.url), 'utf8');
  const sockets = [...text.matchAll(/^ListenStream=%t\/coffer\/%i\/(\w+)\.sock$/gm)].map(([, name]) => name);
  expect(sockets).toEqual(['agent', 'api', ...AGENT_DOORS.map(({ name }) => name)]);
});
