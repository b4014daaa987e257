/** What the checks of the packages of a release work with. */
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Unavailable } from '../clients/client.ts';
import { type Ended, lastWords, runCommand, type Where } from '../clients/commands.ts';
import { selfSigned } from '../servers/self-signed.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
};
/** Where `npm run release` has put what is looked at here. */
export const released = join(root, 'dist/release');

/** A file of the release. @throws when this release was made without it. */
export function releasedFile(name: string): string {
  const path = join(released, name);
  if (!existsSync(path)) throw new Unavailable(`no ${name} in dist/release`);
  return path;
}

export interface Bench extends Where {
  /** A command that must succeed. @returns its standard output */
  run(
    program: string,
    parameters: readonly string[],
    environment?: Environment,
    input?: string,
  ): Promise<string>;
  /** A command that must fail. @returns all that it wrote */
  refused(program: string, parameters: readonly string[], environment?: Environment): Promise<string>;
  /** Is called when the check is over. */
  finally(clean: () => Promise<void> | void): void;
}

export type Environment = Readonly<Record<string, string | undefined>>;
export type Checks = Readonly<Record<string, (bench: Bench) => Promise<void>>>;

/** @param where an empty directory, and an environment with nothing of the machine's but where programs are. */
export function benchIn(where: Where, finished: (clean: () => Promise<void> | void) => void): Bench {
  const tried = async (
    program: string,
    parameters: readonly string[],
    environment: Environment = {},
    input = '',
  ): Promise<Ended> => runCommand(program, parameters, where, { environment, input });
  return {
    ...where,
    finally: finished,
    async run(program, parameters, environment, input) {
      const ended = await tried(program, parameters, environment, input);
      if (ended.exitCode !== 0) throw new Error(lastWords(program, parameters, ended));
      return ended.stdout;
    },
    async refused(program, parameters, environment) {
      const ended = await tried(program, parameters, environment);
      if (ended.exitCode === 0)
        throw new Error(`should have failed: ${lastWords(program, parameters, ended)}`);
      return ended.stdout + ended.stderr;
    },
  };
}

/** Whether a program of the distribution is there. @throws when it is not. */
export async function wants(bench: Bench, program: string, debianPackage: string = program): Promise<void> {
  await bench.run('which', [program]).catch(() => {
    throw new Unavailable(`${program} is not installed (Debian's package ${debianPackage})`);
  });
}

export interface FileServer {
  /** With the version at its end. */
  readonly secure: string;
  readonly plain: string;
  /** The certificate of the first, for those who ask for one. */
  readonly caFile: string;
}

/** Serves a directory below `/VERSION/` on the loopback interface, with TLS and without. */
export async function serveFiles(bench: Bench, directory: string, below = version): Promise<FileServer> {
  const { certificateFile, keyFile } = selfSigned(bench.directory);
  const files = new Set(readdirSync(directory));
  const answer: Parameters<typeof createServer>[1] = (request, response) => {
    const name = new RegExp(`^/${below.replaceAll('.', '\\.')}/([^/]+)$`).exec(request.url ?? '')?.[1] ?? '';
    if (!files.has(name)) return response.writeHead(404).end();
    return createReadStream(join(directory, name)).pipe(response);
  };
  const servers = [
    createSecureServer({ cert: readFileSync(certificateFile), key: readFileSync(keyFile) }, answer),
    createServer(answer),
  ];
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    bench.finally(() => void server.close());
    ports.push((server.address() as AddressInfo).port);
  }
  return {
    secure: `https://localhost:${ports[0]}/${below}`,
    plain: `http://127.0.0.1:${ports[1]}/${below}`,
    caFile: certificateFile,
  };
}
