import { type Adapter, Low } from 'lowdb';
import { readWhole, writeDurably } from './durable-files.ts';

/** Stands for "no such file": `Low` keeps its old data when a read finds nothing, so that must be told apart. */
const ABSENT: Uint8Array = new Uint8Array(0);

/**
 * How lowdb reaches one sealed file. Reading takes it from its place; writing puts the new content, durably, beside
 * the store's state, from where a commit moves it into place in one step. So what a `Low` has written is seen by no
 * reader before it is committed.
 */
class StagedFile implements Adapter<Uint8Array> {
  readonly #path: string;
  readonly #stagedPath: string;

  constructor(path: string, stagedPath: string) {
    this.#path = path;
    this.#stagedPath = stagedPath;
  }

  async read(): Promise<Uint8Array | null> {
    return readWhole(this.#path) ?? null;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await writeDurably(this.#stagedPath, bytes);
  }
}

/** The content of a sealed file, or undefined when there is none. */
export async function readBlobFile(path: string): Promise<Uint8Array | undefined> {
  // A new Low for each read: one that was used before would go on showing a file that has vanished since.
  const file = new Low(new StagedFile(path, ''), ABSENT);
  await file.read();
  return file.data === ABSENT ? undefined : file.data;
}

/** Writes the content that the file at `path` shall have to `stagedPath`, and waits until it is on disk. */
export async function stageBlobFile(path: string, stagedPath: string, bytes: Uint8Array): Promise<void> {
  await new Low(new StagedFile(path, stagedPath), bytes).write();
}
