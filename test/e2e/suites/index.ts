import { afterAll, beforeAll, describe } from 'vitest';
import type { Place, Target } from '../harness.ts';
import { batchSuite } from './batch.suite.ts';
import { certificatesSuite } from './certificates.suite.ts';
import { detachedSignaturesSuite } from './detached-signatures.suite.ts';
import { encryptionSuite } from './encryption.suite.ts';
import { envelopesSuite } from './envelopes.suite.ts';
import { keysSuite } from './keys.suite.ts';
import { largeInputsSuite } from './large-inputs.suite.ts';
import { loginMethodsSuite } from './login-methods.suite.ts';
import { mountsAndAccessSuite } from './mounts-and-access.suite.ts';
import { movingKeysSuite } from './moving-keys.suite.ts';
import { recipientsSuite } from './recipients.suite.ts';
import { secretFilesSuite } from './secret-files.suite.ts';
import { signingSuite } from './signing.suite.ts';
import { tagJobsSuite } from './tag-jobs.suite.ts';
import { tagsSuite } from './tags.suite.ts';
import { thereAlreadySuite } from './there-already.suite.ts';

/** What a suite is given: its place is there when its tests run. */
export type Suite = (here: () => Place) => void;

const suites: Readonly<Record<string, Suite>> = {
  'keys and their versions': keysSuite,
  'encrypt, decrypt, rewrap, datakey': encryptionSuite,
  'many items at once': batchSuite,
  'hash, hmac, sign, verify, random': signingSuite,
  'inputs of any size': largeInputsSuite,
  'signatures for others': detachedSignaturesSuite,
  'backup, restore, export, import': movingKeysSuite,
  'certificates and keys that two derive': certificatesSuite,
  envelopes: envelopesSuite,
  'secrets in files': secretFilesSuite,
  'files in the age format': recipientsSuite,
  'organizations, workspaces, tags': tagsSuite,
  'many tags at once': tagJobsSuite,
  'mounts, tokens, policies': mountsAndAccessSuite,
  'login methods': loginMethodsSuite,
  'what is there already': thereAlreadySuite,
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
