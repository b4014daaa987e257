import { afterAll, beforeAll, describe } from 'vitest';
import { Chance, streamOf } from '../../chance.ts';
import { daily } from '../../sampled.ts';
import { SEED } from '../../seed.ts';
import type { Place, Target } from '../harness.ts';
import { batchSuite } from './batch.suite.ts';
import { certificatesSuite } from './certificates.suite.ts';
import { detachedSignaturesSuite } from './detached-signatures.suite.ts';
import { encryptionSuite } from './encryption.suite.ts';
import { envelopesSuite } from './envelopes.suite.ts';
import { keysSuite } from './keys.suite.ts';
import { largeInputsSuite } from './large-inputs.suite.ts';
import { largestInputsSuite } from './largest-inputs.suite.ts';
import { loginMethodsSuite } from './login-methods.suite.ts';
import { mountsAndAccessSuite } from './mounts-and-access.suite.ts';
import { movingKeysSuite } from './moving-keys.suite.ts';
import { ofOthersSuite } from './of-others.suite.ts';
import { pipesSuite } from './pipes.suite.ts';
import { recipientsSuite } from './recipients.suite.ts';
import { secretFilesSuite } from './secret-files.suite.ts';
import { signingSuite } from './signing.suite.ts';
import { tagJobsSuite } from './tag-jobs.suite.ts';
import { tagsSuite } from './tags.suite.ts';
import { thereAlreadySuite } from './there-already.suite.ts';

/** What a suite is given: its place is there when its tests run. */
export type Suite = (here: () => Place, target: Target) => void;

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

/** What is a process's own, on the local store and on a server: how a place is reached makes no difference to its streams. */
const ownSuites: Readonly<Record<string, Suite>> = {
  'pipes and scripts': pipesSuite,
};

/** What comes to the same wherever the keys are. */
const sameSuites: Readonly<Record<string, Suite>> = {
  'inputs larger than any request': largestInputsSuite,
  'files of other programs': ofOthersSuite,
};

const allSuites: Readonly<Record<string, Suite>> = { ...suites, ...ownSuites, ...sameSuites };

/** The acceptance suite of every command that makes sense on a local store and on a server alike. */
export function describeCommands(target: Target): void {
  describeSuites(target, suites);
}

/** What of that needs processes of its own, whatever runs the rest. */
export function describeProcesses(target: Target): void {
  describeSuites(target, ownSuites);
}

/** What of that does not depend on the target, and takes long. */
export function describeTheSame(target: Target): void {
  describeSuites(target, sameSuites);
}

/** All of these. */
export function describeAll(target: Target): void {
  describeSuites(target, allSuites);
}

/** One out of each three of all suites, drawn by the seed. */
export function describeSome(target: Target): void {
  describeSuites(target, oneOfThree(allSuites, target));
}

/** One out of each three of the suites of commands, drawn by the seed. */
export function describeSomeCommands(target: Target): void {
  describeSuites(target, oneOfThree(suites, target));
}

function oneOfThree(
  those: Readonly<Record<string, Suite>>,
  { name }: Target,
): Readonly<Record<string, Suite>> {
  const chance = chanceOf(name);
  const titles = Object.entries(those);
  return Object.fromEntries(
    Array.from({ length: Math.ceil(titles.length / 3) }, (_, index) =>
      chance.pick(titles.slice(index * 3, index * 3 + 3)),
    ),
  );
}

const chanceOf = (name: string): Chance => new Chance(Number(SEED), streamOf(name), 0);

function describeSuites(target: Target, those: Readonly<Record<string, Suite>>): void {
  for (const [title, suite] of daily(Object.entries(those), chanceOf(`daily ${target.name}`))) {
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
      }, target);
    });
  }
}
