import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { hasProcessFiles, shownOf } from '../hygiene/processes.ts';
import { inTurn } from '../in-turn.ts';
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
      await owner.ok('init');
      await owner.ok('unlock');
      const ciphertext = await place.ok('transit encrypt app hello');
      expect(await place.ok(['transit', 'decrypt', 'app', ciphertext])).toBe('hello');
      const { pid } = await statusOf(place);
      if (hasProcessFiles) {
        expect(shownOf(pid)).not.toContain('kept-to-itself');
        expect(readFileSync(`/proc/${pid}/cmdline`, 'latin1')).not.toContain('postgres');
      }
      await fromElsewhere(owner).ok('rekey');
      expect(await place.refused('transit keys list', LOCKED)).toContain('the store is locked');
      await vi.waitUntil(() => isGone(pid), WITHIN);
    });

    it('is another for another schema', async () => {
      const stores = [newSchema(), newSchema()].map((schema) => database.location(schema));
      place = placeForAgents();
      const [one, other] = stores.map((location) => (place as Place).with({ COFFER_STORE: location }));
      await one?.with(KEY).ok('init');
      await other?.with(KEY).ok('init');
      await one?.with(KEY).ok('unlock');
      expect(await inTurn([one, other], async (at) => at && (await isLocked(at)))).toEqual([false, true]);
      await one?.ok('lock');
    });
  },
);
