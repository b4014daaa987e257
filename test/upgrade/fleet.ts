/** A command and a server of the last release, and those of this one, on one store. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';

export interface FleetOptions {
  readonly earlier: string;
  readonly today: string;
  readonly location: string;
  readonly home: string;
}

/** What an API answered. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}

const run = promisify(execFile);

/** One release: its command and its server. */
export class Release {
  readonly #binary: string;
  readonly #environment: NodeJS.ProcessEnv;
  #server: ServerProcess | undefined;
  #token = '';

  constructor(binary: string, environment: NodeJS.ProcessEnv) {
    this.#binary = binary;
    this.#environment = environment;
  }

  async serve(token: string): Promise<void> {
    this.#token = token;
    const words = [this.#binary, 'serve', '--listen', '127.0.0.1:0'];
    this.#server = await startServerProcess(words, { environment: this.#environment });
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  get address(): string {
    return this.#server?.address ?? '';
  }

  async ask(method: string, path: string, body?: object, token = this.#token): Promise<Answer> {
    const isTags = path.startsWith('api/');
    const headers = new Headers({
      authorization: `Bearer ${token}`,
      'x-service-token': token,
      // Commands run in between, in which nobody notices that an idle connection was closed.
      connection: 'close',
    });
    if (isTags) headers.set('content-type', 'application/vnd.api+json');
    const response = await fetch(`${this.address}/${isTags ? '' : 'v1/'}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
  }

  /** The data of an answer that must be good. */
  async must(method: string, path: string, body?: object): Promise<Answer['json']> {
    const { status, json } = await this.ask(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
    return json?.data;
  }

  /** Runs the command on the store. */
  try(line: string, more: NodeJS.ProcessEnv = {}, input = '') {
    return spawnSync(process.execPath, [this.#binary, ...line.split(' ')], {
      env: { ...this.#environment, ...more },
      input,
      encoding: 'utf8',
    });
  }

  /** What a command prints that must succeed, without the newline at its end. */
  ok(line: string, more: NodeJS.ProcessEnv = {}, input = ''): string {
    const { status, stdout, stderr } = this.try(line, more, input);
    if (status !== 0) throw new Error(`coffer ${line}: ${status} ${stderr}`);
    return stdout.replace(/\n$/, '');
  }

  /** As `ok`, beside others. */
  async later(line: string): Promise<string> {
    const words = [this.#binary, ...line.split(' ')];
    return (await run(process.execPath, words, { env: this.#environment })).stdout.trimEnd();
  }

  /** The environment of a command that works against another server. */
  at(server: Release): NodeJS.ProcessEnv {
    return {
      COFFER_STORE: undefined,
      COFFER_MASTER_KEY: undefined,
      COFFER_ADDR: server.address,
      COFFER_TOKEN: this.#token,
    };
  }
}

export class Fleet {
  readonly earlier: Release;
  readonly today: Release;
  readonly both: readonly [Release, Release];
  readonly home: string;
  readonly location: string;

  private constructor(earlier: Release, today: Release, { home, location }: FleetOptions) {
    this.location = location;
    this.earlier = earlier;
    this.today = today;
    this.both = [earlier, today];
    this.home = home;
  }

  /** The store is one of the earlier release, with the organization `acme` in it. */
  static async start(options: FleetOptions): Promise<Fleet> {
    const { earlier, today, location, home } = options;
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const environment = {
      PATH: process.env['PATH'],
      HOME: home,
      COFFER_STORE: location,
      COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      COFFER_ORG: 'acme',
    };
    const fleet = new Fleet(new Release(earlier, environment), new Release(today, environment), options);
    fleet.earlier.ok('init');
    fleet.earlier.ok('orgs create acme');
    const token = fleet.earlier.ok('token create -o raw');
    await Promise.all(fleet.both.map((release) => release.serve(token)));
    return fleet;
  }

  async stop(): Promise<void> {
    await Promise.all(this.both.map((release) => release.stop()));
  }
}
