import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { binary, type Place } from '../e2e/harness.ts';

/** A server as people start it, whose every word is kept. */
export interface Server {
  readonly address: string;
  /** Ends it in order; once is enough. @returns what it wrote to its log. */
  stop(): Promise<string>;
}

export async function startServer(
  place: Place,
  line: string,
  environment: Readonly<Record<string, string>>,
): Promise<Server> {
  const child = spawn(process.execPath, [binary, ...line.split(' ')], {
    cwd: place.directory,
    env: place.environment(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = text(child.stderr);
  const ended = once(child, 'exit');
  const [address] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    address: address.toString().trim(),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      return log;
    },
  };
}
