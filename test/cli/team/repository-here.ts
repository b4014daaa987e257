import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { systemRandom } from '../../../src/ground/random.ts';
import { freshIdentity } from '../../../src/transit/envelope/age/recipients.ts';
import { DirectoryHere } from '../directory-here.ts';
import { promptsDouble } from '../streams.double.ts';

/** A repository without commits, of Ann and her key, whose keyring is put back and exchanged as files. */
export class RepositoryHere {
  readonly here = DirectoryHere.make({ COFFER_STORE: undefined, COFFER_MASTER_KEY: undefined, USER: 'ann' });

  constructor() {
    for (const path of ['.git/objects', '.git/refs']) mkdirSync(this.here.file(path), { recursive: true });
    this.here.write('.git/HEAD', 'ref: refs/heads/main\n');
    this.addKey('ann');
  }

  /** A private key that no keyring knows. */
  addKey(name: string): void {
    this.here.write(`home/${name}`, freshIdentity(systemRandom));
    chmodSync(this.here.file(`home/${name}`), 0o600);
  }

  as(name = 'ann') {
    return { environment: { COFFER_IDENTITY_FILE: this.here.file(`home/${name}`) } };
  }

  ok(line: string, name?: string): Promise<string> {
    return this.here.ok(line, this.as(name));
  }

  refused(line: string, exitCode: number, answers?: readonly boolean[]): Promise<string> {
    const prompts = promptsDouble(answers, answers !== undefined);
    return this.here.refused(line, exitCode, { ...this.as(), prompts });
  }

  keep(name: string): void {
    cpSync(this.here.file('.coffer'), this.here.file(name), { recursive: true });
  }

  putBack(name: string): void {
    rmSync(this.here.file('.coffer'), { recursive: true, force: true });
    cpSync(this.here.file(name), this.here.file('.coffer'), { recursive: true });
  }

  get facts(): readonly string[] {
    const all = readdirSync(this.here.file('.coffer'), { recursive: true, encoding: 'utf8' });
    return all.filter((path) => /\.[0-9a-z]{32}$/.test(path)).sort();
  }

  /** ID of the first fact whose path begins so. */
  idOf(start: string): string {
    return this.facts.find((path) => path.startsWith(start))?.slice(-32) ?? '';
  }
}
