import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { hasProcessFiles, shownOf } from '../hygiene/processes.ts';
import { type Database, newSchema } from '../store/postgres/database.ts';
import { whyNoDatabase } from '../store/postgres/installed.ts';
import { sharedDatabase } from '../store/postgres/run.ts';
import {
  fromElsewhere,
  isGone,
  isLocked,
  KEY,
  LOCKED,
  leave,
  placeForAgents,
  statusOf,
  WITHIN,
} from './agent-target.ts';
import type { Place } from './harness.ts';

const missing = whyNoDatabase();

describe.skipIf(missing !== undefined)(
  `an agent of a store in PostgreSQL${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let database: Database;
    let keeper: string;
    let place: Place | undefined;
    beforeAll(async () => {
      database = await sharedDatabase();
      keeper = `keeper_${database.name}`;
      await database.query(`CREATE ROLE ${keeper} LOGIN SUPERUSER PASSWORD 'kept-to-itself'`);
    });
    afterEach(() => {
      if (place !== undefined) leave(place);
    });

    it('is found, used, and ends with a rekey; the password of the database is in no variable of it', async () => {
      const location = database.location(newSchema(), { user: keeper, password: 'kept-to-itself' });
      place = placeForAgents({ COFFER_STORE: location });
      const owner = place.with(KEY);
      owner.ok('init');
      owner.ok('unlock');
      const ciphertext = place.ok('transit encrypt app hello');
      expect(place.ok(['transit', 'decrypt', 'app', ciphertext])).toBe('hello');
      const { pid } = statusOf(place);
      if (hasProcessFiles) {
        expect(shownOf(pid)).not.toContain('kept-to-itself');
        expect(readFileSync(`/proc/${pid}/cmdline`, 'latin1')).not.toContain('postgres');
      }
      fromElsewhere(owner).ok('rekey');
      expect(place.refused('transit keys list', LOCKED)).toContain('the store is sealed');
      await vi.waitUntil(() => isGone(pid), WITHIN);
    });

    it('is another for another schema', () => {
      const stores = [newSchema(), newSchema()].map((schema) => database.location(schema));
      place = placeForAgents();
      const [one, other] = stores.map((location) => (place as Place).with({ COFFER_STORE: location }));
      one?.with(KEY).ok('init');
      other?.with(KEY).ok('init');
      one?.with(KEY).ok('unlock');
      expect([one, other].map((at) => at && isLocked(at))).toEqual([false, true]);
      one?.ok('lock');
    });
  },
);
