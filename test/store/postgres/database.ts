import { join } from 'node:path';
import pg from 'pg';
import { runProgram } from './installed.ts';

export interface LocationParts {
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  /** Further parameters, the first with the `&` before it. */
  readonly more?: string;
}

/** A database of a server on loopback, as its superuser `admin`, whose password is `secret`, sees it. */
export class Database {
  readonly port: number;
  readonly name: string;
  /** The directory of the server's socket, where nobody is asked for a password. */
  readonly #socket: string;

  constructor(port: number, socket: string, name: string) {
    this.port = port;
    this.#socket = socket;
    this.name = name;
  }

  get socketPath(): string {
    return join(this.#socket, `.s.PGSQL.${this.port}`);
  }

  /** The location of a store, as `admin` or somebody else. */
  location(
    schema: string,
    { user = 'admin', password = 'secret', database = this.name, more = '' }: LocationParts = {},
  ): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.port}/${database}?schema=${schema}${more}`;
  }

  /** The same for messages: without the password. */
  printed(schema: string, user = 'admin', database = this.name): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}?schema=${schema}`;
  }

  /** A client that is not connected yet. */
  client(): pg.Client {
    const client = new pg.Client({
      host: this.#socket,
      port: this.port,
      user: 'admin',
      database: this.name,
    });
    client.on('error', () => undefined);
    return client;
  }

  /** Runs SQL as `admin`. */
  async query(sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = this.client();
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Everything in the database, as text. */
  dump(): Promise<string> {
    return runProgram(
      'pg_dump',
      '--inserts',
      '-h',
      this.#socket,
      '-p',
      String(this.port),
      '-U',
      'admin',
      this.name,
    );
  }
}

let schemas = 0;
/** A name that no other test of this file has. */
export const newSchema = (): string => `store_${++schemas}`;
