import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from './cluster.ts';
import { failure, initWithKey, read, write } from './document.ts';
import { whyNoDatabase } from './installed.ts';

const missing = whyNoDatabase();
const SCHEMA = 'replicated';

describe.skipIf(missing !== undefined)(
  `a read-only replica${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let primary: Cluster;
    let replica: Cluster;
    beforeAll(async () => {
      primary = await Cluster.create();
      await initWithKey(primary.location(SCHEMA));
      await write(primary.location(SCHEMA), 1);
      replica = await primary.standby();
    });
    afterAll(async () => {
      await replica.remove();
      await primary.remove();
    });

    /** Both in one location, the replica first. */
    const both = (): string =>
      primary.location(SCHEMA).replace('@127.0.0.1', `@127.0.0.1:${replica.port},127.0.0.1`);

    it('is told from its primary, and neither written nor read: what it shows may be of yesterday', async () => {
      const refused = `unavailable: cannot use ${replica.printed(SCHEMA)}: the database is a read-only replica`;
      expect(await failure(() => read(replica.location(SCHEMA)))).toBe(refused);
      expect(await failure(() => write(replica.location(SCHEMA)))).toBe(refused);
      expect(await failure(() => initWithKey(replica.location('another')))).toBe(
        refused.replace(SCHEMA, 'another'),
      );
    });

    it('may stand beside its primary, which is the one that is used, and takes its place when promoted', async () => {
      await write(both(), 2);
      expect(await read(both())).toEqual({ n: 2 });
      await primary.kill();
      expect(await failure(() => read(both()))).toMatch(
        `the database is a read-only replica (127.0.0.1:${primary.port}: connection refused)`,
      );
      await replica.promote();
      expect(await read(both())).toEqual({ n: 2 });
      await write(replica.location(SCHEMA), 3);
      expect(await read(both())).toEqual({ n: 3 });
    });
  },
);
