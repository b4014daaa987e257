import type { Prompts } from '../../src/cli/terminal/prompt.ts';
import { DEFAULT_COLUMNS, type Output, type Streams } from '../../src/cli/terminal/streams.ts';

/** Streams that are buffers, for running the command line in this process. */
export interface StreamsDouble extends Streams {
  /** What was written so far. */
  readonly written: { readonly out: string; readonly err: string; readonly outBytes: Buffer };
}

export interface StreamsSetup {
  readonly input?: string | Uint8Array;
  readonly terminals?: readonly ('in' | 'out' | 'err')[];
  readonly columns?: number;
}

export function streamsDouble({
  input = '',
  terminals = [],
  columns = DEFAULT_COLUMNS,
}: StreamsSetup = {}): StreamsDouble {
  let rest = Buffer.from(input);
  const take = (into: Uint8Array): number => {
    const length = rest.copy(into);
    rest = rest.subarray(length);
    return length;
  };
  const collected = { out: [] as Buffer[], err: [] as Buffer[] };
  const sink = (name: 'out' | 'err'): Output => ({
    isTerminal: terminals.includes(name),
    columns,
    write: (data) => void collected[name].push(Buffer.from(data)),
    writeLater: async (data) => void collected[name].push(Buffer.from(data)),
  });
  return {
    in: {
      isTerminal: terminals.includes('in'),
      isPiped: input.length > 0,
      bytes: undefined,
      readAll() {
        const all = rest;
        rest = Buffer.alloc(0);
        return all;
      },
      read: async (into) => take(into),
      readNow: take,
    },
    out: sink('out'),
    err: sink('err'),
    get written() {
      const outBytes = Buffer.concat(collected.out);
      return { out: outBytes.toString(), err: Buffer.concat(collected.err).toString(), outBytes };
    },
  };
}

/** Answers questions from a list, and notes what was asked. */
export function promptsDouble(
  answers: readonly (string | boolean)[] = [],
  available = true,
): Prompts & { readonly asked: string[] } {
  const left = [...answers];
  const asked: string[] = [];
  const next = (question: string): string | boolean => {
    asked.push(question);
    const answer = left.shift();
    if (answer === undefined) throw new Error(`nobody expected the question "${question}"`);
    return answer;
  };
  return {
    asked,
    available: () => available,
    text: async (question) => String(next(question)),
    secret: async (question) => String(next(question)),
    newSecret: async (question) => String(next(question)),
    confirm: async (question) => next(question) === true,
  };
}
