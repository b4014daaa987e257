import { afterAll, beforeAll, describe } from 'vitest';
import type { Place, Target } from '../harness.ts';
import { batchSuite } from './batch.suite.ts';
import { encryptionSuite } from './encryption.suite.ts';
import { envelopesSuite } from './envelopes.suite.ts';
import { keysSuite } from './keys.suite.ts';
import { mountsAndAccessSuite } from './mounts-and-access.suite.ts';
import { movingKeysSuite } from './moving-keys.suite.ts';
import { signingSuite } from './signing.suite.ts';
import { tagsSuite } from './tags.suite.ts';

/** What a suite is given: its place is there when its tests run. */
export type Suite = (here: () => Place) => void;

const suites: Readonly<Record<string, Suite>> = {
  'keys and their versions': keysSuite,
  'encrypt, decrypt, rewrap, datakey': encryptionSuite,
  'many items at once': batchSuite,
  'hash, hmac, sign, verify, random': signingSuite,
  'backup, restore, export, import': movingKeysSuite,
  envelopes: envelopesSuite,
  'organizations, workspaces, tags': tagsSuite,
  'mounts, tokens, policies': mountsAndAccessSuite,
};

/** The acceptance suite of every command that makes sense on a local store and on a server alike. */
export function describeCommands(target: Target): void {
  for (const [title, suite] of Object.entries(suites)) {
    describe(`${title}, on ${target.name}`, () => {
      let running: Awaited<ReturnType<Target['start']>> | undefined;
      beforeAll(async () => {
        running = await target.start();
      });
      afterAll(async () => {
        await running?.stop();
      });
      suite(() => {
        if (running === undefined) throw new Error('the target has not started');
        return running.place;
      });
    });
  }
}
