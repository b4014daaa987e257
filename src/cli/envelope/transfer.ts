import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeWithParents } from '../../ground/directories.ts';
import { closing, failingAs, invalid } from '../../ground/errors.ts';
import type { ByteSink, ByteSource, OnProgress } from '../../transit/envelope/ports.ts';
import { type InFile, openInFile } from '../files/in-file.ts';
import { announceStandardInput } from '../files/input.ts';
import { throughOutFile, writeFailure } from '../files/out-file.ts';
import { binaryRefused, jsonText } from '../files/output.ts';
import { type Given, textOption } from '../given.ts';
import { IN, OUT } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { sizeText, TransferProgress } from '../terminal/progress.ts';
import type { Input, Output } from '../terminal/streams.ts';
import { isPlainText } from '../terminal/visible.ts';
import { type FileJob, forEachFile } from './jobs.ts';
import { OUT_DIR } from './options.ts';

/** Mode of directories created for results. */
const OWNER_ONLY = 0o700;

/** Opened input and output of one job. */
interface TransferEnds {
  readonly source: ByteSource;
  /** Input as a file of known size, for reading ranges; undefined for a pipe. */
  readonly file: (InFile & { readonly size: number }) | undefined;
  readonly sink: ByteSink;
  readonly onProgress: OnProgress;
}

interface FileTransfer {
  readonly session: Session;
  readonly options: Given['options'];
  readonly jobs: readonly FileJob[];
  /** Whether the result may be text, which is then shown on a terminal. */
  readonly mayBeText: boolean;
  /** Past participle for the message to users: `Encrypted`. */
  readonly done: string;
  /**
   * Transfers one input to one output.
   * @returns details for the report
   */
  transfer(ends: TransferEnds): Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Runs all jobs.
 * @returns exit code
 */
export async function transferAll(request: FileTransfer): Promise<number> {
  const { session, jobs } = request;
  refuseMixedOutput(request);
  const besideOutput = jobs.some(({ to }) => to === undefined);
  const progress = new TransferProgress(session, totalBytes(session, jobs), besideOutput, () =>
    besideOutput ? 'Cancelled.' : 'Cancelled; no unfinished file was left behind.',
  );
  const run = (job: FileJob): Promise<JobResult> => runJob(request, job, progress);
  const { results, exitCode } = await closing(progress, () =>
    forEachFile(session, jobs, run, () => progress.erase()),
  );
  report(request, results);
  return exitCode;
}

/**
 * Refuses standard output for both data and report.
 * @throws `invalid` if both would be written there
 */
function refuseMixedOutput({ session, jobs }: FileTransfer): void {
  if (session.settings.format !== 'json' || jobs.every(({ to }) => to !== undefined)) return;
  throw invalid('-o json cannot be used when the data goes to standard output', {
    field: 'output',
    hint: 'use --out FILE, or omit -o json',
  });
}

function totalBytes(session: Session, jobs: readonly FileJob[]): number | undefined {
  let total = 0;
  for (const { from } of jobs) {
    const bytes = from === undefined ? session.streams.in.bytes : sizeOf(from);
    if (bytes === undefined) return undefined;
    total += bytes;
  }
  return total;
}

function sizeOf(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : undefined;
}

interface JobResult extends Readonly<Record<string, unknown>> {
  readonly in: string;
  readonly out: string;
  readonly bytes_read: number;
  readonly bytes_written: number;
}

async function runJob(request: FileTransfer, job: FileJob, progress: TransferProgress): Promise<JobResult> {
  const { session } = request;
  const counts = { read: 0, written: 0 };
  return closing(job.from === undefined ? undefined : openInFile(job.from, IN), async (file) => {
    if (file === undefined) announceStandardInput(session);
    const input = file ?? session.streams.in;
    const told = await writing(request, job, counts, (sink) =>
      request.transfer({
        source: sourceOf(input, job),
        file: file?.bytes === undefined ? undefined : { ...file, size: file.bytes },
        sink,
        onProgress(bytes) {
          counts.read += bytes;
          progress.add(bytes);
        },
      }),
    );
    return {
      in: job.from ?? '-',
      out: job.to?.path ?? '-',
      bytes_read: counts.read,
      bytes_written: counts.written,
      ...told,
    };
  });
}

/**
 * Opens the source. Between two pipes there is no other work to do while waiting, and blocking calls are much cheaper.
 * With an output file, signals must be handled at any time, since an unfinished file has to be removed.
 */
function sourceOf(input: Input, { to }: FileJob): ByteSource {
  const expectedBytes = input.bytes;
  const mayStall = expectedBytes === undefined;
  if (!mayStall || to !== undefined) {
    return { mayStall, expectedBytes, read: (into) => input.read(into), file: input.file };
  }
  return { mayStall, read: async (into) => input.readNow(into) };
}

/** Opens the output. A file appears only once it is complete. */
async function writing<T>(
  request: FileTransfer,
  { to }: FileJob,
  counts: { written: number },
  work: (sink: ByteSink) => Promise<T>,
): Promise<T> {
  const counted = (sink: ByteSink): ByteSink => ({
    async write(bytes) {
      await sink.write(bytes);
      counts.written += bytes.length;
    },
    file: sink.file && {
      ...sink.file,
      wrote(bytes) {
        counts.written += bytes;
      },
    },
  });
  if (to === undefined) {
    const sink = standardSink(request);
    const result = await work(counted(sink));
    sink.end?.();
    return result;
  }
  if (request.options.has(OUT_DIR)) makeHome(to.path);
  return throughOutFile(to, (out) =>
    work(counted({ write: (bytes) => out.writeLater(bytes), file: out.file })),
  );
}

/**
 * Creates the directory of a file.
 * @throws as opening the file, naming `--out-dir`
 */
function makeHome(file: string): void {
  const directory = dirname(file);
  failingAs(
    (error) => writeFailure(directory, error, OUT_DIR),
    () => makeWithParents(directory, OWNER_ONLY),
  );
}

/** Sink for a person, with a line end after text that has none, as other commands have it. */
interface ScreenSink extends ByteSink {
  end?(): void;
}

function standardSink({ session, options, mayBeText }: FileTransfer): ScreenSink {
  const { out } = session.streams;
  const asItIs = !out.isTerminal || session.settings.format === 'raw' || textOption(options, OUT) === '-';
  if (asItIs) return { write: (bytes) => out.writeLater(bytes), file: out.file };
  if (!mayBeText) throw binaryRefused();
  return screen(out);
}

function report({ session, done, options }: FileTransfer, results: readonly JobResult[]): void {
  if (session.settings.format === 'json') {
    session.streams.out.write(jsonText({ files: results }, session.streams.out.isTerminal));
    return;
  }
  // What a pipe or the terminal itself gets needs no message.
  if (results.length === 0 || results.some(({ out }) => out === '-')) return;
  // The size of the plaintext, which is always the smaller one.
  const size = sizeText(
    results.reduce((sum, { bytes_read, bytes_written }) => sum + Math.min(bytes_read, bytes_written), 0),
  );
  const [only] = results;
  const isOne = results.length === 1 && only !== undefined;
  const what = isOne ? nameOf(only.in) : `${results.length} files`;
  const to = isOne ? only.out : textOption(options, OUT_DIR);
  session.remark(`${done} ${what}${to === undefined ? '' : ` to ${to}`} (${size}).`);
}

const nameOf = (path: string): string => (path === '-' ? 'standard input' : path);

/**
 * Returns a sink that shows decrypted data on the terminal as it arrives. Writing fails with `invalid` once the data is
 * not text, since other bytes could contain any escape sequence.
 */
function screen(out: Output): ScreenSink {
  // A character may be split between two chunks.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let isLineOpen = false;
  const decode = (bytes: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: true });
    } catch {
      throw binaryRefused();
    }
  };
  return {
    async write(bytes) {
      const text = decode(bytes);
      if (!isPlainText(text)) throw binaryRefused();
      out.write(text);
      if (text !== '') isLineOpen = !text.endsWith('\n');
    },
    end() {
      if (isLineOpen) out.write('\n');
    },
  };
}
