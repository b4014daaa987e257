/**
 * Process that uses a store through its backend until it is done or killed: `child.ts MODULE NAME LOCATION WORK
 * [PARAMETER…]`, where the module exports the kind of backend under that name. Prints a line for each completed step.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { Backend, Blob, BlobRef, Change } from '../../../src/store/backends/backend.ts';
import type { BackendKind, Located } from '../../../src/store/backends/backend-kind.ts';

const [module = '', name = '', place = '', work = '', ...parameters] = process.argv.slice(2);
const kind = ((await import(module)) as Readonly<Record<string, BackendKind>>)[name] as BackendKind;
const location = JSON.parse(place) as Located;
const count = Number(parameters[0]);

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const document = (number: number): BlobRef => ({
  area: 'documents',
  name: number.toString(16).padStart(2, '0'),
});
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('still alive after SIGKILL');
}

/**
 * Returns changes to that many documents with the same text.
 * @param look called whenever the text of one is read
 */
const changes = (number: number, text: string, look = (_: number): void => undefined): readonly Change[] =>
  Array.from({ length: number }, (_, index) => ({
    ref: document(index),
    get bytes() {
      look(index);
      return bytes(text);
    },
  }));

async function* dyingAfter(blobs: readonly Blob[]): AsyncGenerator<Blob> {
  yield* blobs;
  // By now, the earlier changes are being written, as far as possible without the next one.
  for (let turns = 0; turns < 50; turns++) await turn();
  die();
}

const blobs: readonly Blob[] = [document(1), document(2)].map((ref) => ({ ref, bytes: bytes('of a child') }));

async function* stream(given: readonly Blob[]): AsyncGenerator<Blob> {
  yield* given;
}

const create = (from: AsyncIterable<Blob>): Promise<void> =>
  kind.create(
    location,
    { header: bytes('header'), version: { generation: 3, revision: 7 }, blobs: from },
    {},
  );

async function opened(use: (backend: Backend) => Promise<unknown>): Promise<void> {
  const backend = await kind.open(location, {});
  await use(backend);
  backend.close();
}

const works: Readonly<Record<string, () => Promise<void>>> = {
  /** Adds one to the number in the document `bb` this many times, each time in a session of its own. */
  count: () =>
    opened(async (backend) => {
      const ref: BlobRef = { area: 'documents', name: 'bb' };
      for (let i = 0; i < count; i++) {
        await backend.exclusive(async (session) => {
          const found = await backend.read(session.version.generation, ref);
          const next = Number(found === undefined ? 0 : Buffer.from(found)) + 1;
          await session.commit([{ ref, bytes: bytes(String(next)) }]);
        });
      }
    }),

  /** Holds the write lock until it is killed. */
  hold: () =>
    opened((backend) =>
      backend.exclusive(async () => {
        say('holding');
        for (;;) await sleep(1000);
      }),
    ),

  /** Writes the same new text to that many documents, repeatedly, all at once each time. */
  rewrite: () =>
    opened(async (backend) => {
      for (let round = 1; ; round++) {
        await backend.exclusive((session) => session.commit(changes(count, String(round))));
        say(`round ${round}`);
      }
    }),

  /** Changes that many documents at once, and kills itself when the last one is read. */
  dieInCommit: () =>
    opened((backend) => {
      const look = (index: number): void => {
        if (index === count - 1) die();
      };
      return backend.exclusive((session) => session.commit(changes(count, 'half', look)));
    }),

  /** Kills itself while it creates a new generation. */
  dieInGeneration: () =>
    opened((backend) => backend.exclusive((session) => session.replaceGeneration(dyingAfter(blobs)))),

  /** Kills itself while it creates the store. */
  dieInCreation: () => create(dyingAfter(blobs)),

  /** Creates a store and writes to it in every way, without a umask that would keep others from its files. */
  async writeOpenly() {
    process.umask(0);
    await create(stream(blobs));
    await opened((backend) =>
      backend.exclusive(async (session) => {
        await session.commit(changes(1, 'one'));
        await session.commit(changes(3, 'several'));
        await session.replaceGeneration(stream(blobs));
        await session.raise(session.version.revision + 10);
        await session.commit(changes(1, 'one'));
      }),
    );
  },
};

await works[work]?.();
