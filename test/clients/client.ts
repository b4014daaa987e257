/** What a client of the Vault family, or of Terraform's, is to the suite, and what the suite gives it to work with. */

/** A client that was not written here, at one version, with what is known to work. Its folder's name is what the suite calls it. */
export interface Client {
  /** What people call it, and its page of the documentation. */
  readonly title: string;
  readonly version: string;
  /** How long all its checks may take together; installing it has a time of its own. */
  readonly minutes: number;
  /**
   * Has it from the registry that it is published in, pinned to its version, or finds that it is already there.
   * @returns what each check is given as `installed`: the path of a command, or of a folder
   * @throws Unavailable when this machine can't have it
   */
  install(machine: Machine): Promise<string>;
  /** The server speaks TLS, as `https://localhost`, because the client takes nothing else. */
  readonly secure?: true;
  /** By what each shows. Every check has a directory of its own; the server is fresh for each client, not for each check. */
  readonly checks: Readonly<Record<string, (bench: Bench) => Promise<void>>>;
}

/** Where clients are installed. */
export interface Machine {
  /** Below it is everything that is installed: `folder('go')` is made when it is missing. */
  folder(name: string): string;
  /** A command that must succeed. */
  run: Run;
  /** A command of a registry's own client, or of a compiler that may be missing: where it fails, the client is skipped. */
  need: Run;
}

/** What a check has. */
export interface Bench {
  readonly installed: string;
  /** A plain `coffer serve` with an owner's token; programs find both as VAULT_ADDR and VAULT_TOKEN, BAO_…, TFE_ADDRESS and TFE_TOKEN. */
  readonly address: string;
  readonly token: string;
  /** The file with the certificate of a server that speaks TLS; programs find it as SSL_CERT_FILE. */
  readonly certificate: string | undefined;
  /** Empty, gone after the check; commands run in it. */
  readonly directory: string;
  /** A command that must succeed; its environment has nothing of the machine's but PATH, with the folder of `installed` before it. */
  run: Run;
  /** A command that must fail. @returns what it wrote to standard error and standard output */
  refused: Run;
  /** Our own command, as scripts start it. */
  readonly commandLine: readonly string[];
  /** Our own command on the server, or where `environment` leads it. */
  coffer(parameters: readonly string[], options?: RunOptions): Promise<string>;
}

export interface RunOptions {
  readonly directory?: string;
  /** Added to the environment; undefined removes. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Standard input; otherwise it is empty. */
  readonly input?: string | Uint8Array;
}

/**
 * Runs a program without a shell.
 * @returns its standard output
 * @throws an error with its last words when it ends otherwise than it should, or when the client's time is over
 */
export type Run = (program: string, parameters: readonly string[], options?: RunOptions) => Promise<string>;

/** Runs lines as they are typed, in a shell that stops at the first failure; `installed` is on its PATH. */
export const shell = ({ run }: Bench, lines: string, options?: RunOptions): Promise<string> =>
  run('bash', ['--norc', '-euo', 'pipefail', '-c', lines], options);

/** Says why a client, or one check of it, can't be tried here. */
export class Unavailable extends Error {}

/** The checks of a program of ours that uses a client library: it is run with one check's title, and prints what is wrong. */
export function checksOf(
  titles: readonly string[],
  program: (installed: string) => readonly [string, ...string[]],
): Client['checks'] {
  const check =
    (title: string) =>
    async ({ installed, run }: Bench): Promise<void> => {
      const [command, ...parameters] = program(installed);
      await run(command, [...parameters, title]);
    };
  return Object.fromEntries(titles.map((title) => [title, check(title)]));
}
