import type { PostgresClient } from '../../../src/store/backends/postgres/connection.ts';

interface Asked {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** Answer of a database to a query: rows, or an error that is thrown. */
export type FakeAnswer = readonly object[] | Error | undefined;

/** A connection to no database: a test says what is answered, and sees what was asked. */
export class FakeClient {
  readonly asked: Asked[] = [];
  readonly stream = {
    bytesRead: 0,
    destroyedWith: undefined as unknown,
    cork: () => undefined,
    uncork: () => undefined,
    destroy(error?: unknown) {
      this.destroyedWith = error ?? 'nothing';
    },
  };
  readonly connection = { stream: this.stream };
  #answer: (asked: Asked) => FakeAnswer | Promise<FakeAnswer>;

  constructor(answer: (asked: Asked) => FakeAnswer | Promise<FakeAnswer>) {
    this.#answer = answer;
  }

  async query(query: string | Asked, values?: readonly unknown[]) {
    const asked = typeof query === 'string' ? { text: query, values: values ?? [] } : query;
    this.asked.push(asked);
    const answer = (await this.#answer(asked)) ?? [];
    if (answer instanceof Error) throw answer;
    return { rows: answer, rowCount: answer.length };
  }

  /** Names of the statements that were sent, or how those without one begin. */
  get said(): readonly string[] {
    return this.asked.map(({ name, text }) => name ?? text.trim().split(/[\s;]/, 1)[0] ?? '');
  }

  get asClient(): PostgresClient {
    return this as unknown as PostgresClient;
  }
}

export const coded = (code: string, message = 'of the database') =>
  Object.assign(new Error(message), { code });
