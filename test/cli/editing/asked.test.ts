import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';
import { promptsDouble } from '../streams.double.ts';

/** A store with a file of one value, and plaintexts in a directory of their own. */
class Edited {
  readonly here: DirectoryHere;
  readonly #runtime: string;

  private constructor(here: DirectoryHere, runtime: string) {
    this.here = here;
    this.#runtime = runtime;
  }

  static async make(): Promise<Edited> {
    const runtime = mkdtempSync(join(process.platform === 'linux' ? '/dev/shm' : tmpdir(), 'coffer-edit-'));
    onTestFinished(() => rmSync(runtime, { recursive: true, force: true }));
    const here = await DirectoryHere.withStore({ XDG_RUNTIME_DIR: runtime });
    here.write('.coffer.yaml', 'rules: [{files: "*.env", key: app}]\n');
    here.write('a.env', 'A=one\n');
    await here.ok('secrets encrypt a.env -q');
    return new Edited(here, runtime);
  }

  /** Edits the file by a script that has it in `$1`, where the user answers so. */
  async edit(script: string, answers: readonly boolean[], line = 'edit a.env') {
    this.here.write('editor.sh', script);
    const prompts = promptsDouble(answers);
    const environment = { EDITOR: `sh ${this.here.file('editor.sh')}`, VISUAL: undefined };
    const { exitCode, err } = await this.here.run(line, { prompts, environment });
    return { exitCode, err, asked: prompts.asked };
  }

  /** Lets the process that has a plaintext be one that has ended. */
  end(): void {
    for (const name of readdirSync(this.#runtime, { recursive: true, encoding: 'utf8' }))
      if (name.includes(`-${process.pid}-`) && name.split('/').length === 2)
        renameSync(
          join(this.#runtime, name),
          join(this.#runtime, name.replace(/-\d+-\d+-/, '-999999999-1-')),
        );
  }

  get value(): Promise<string> {
    return this.here.ok('secrets get a.env A');
  }

  /** Number of plaintexts that were left. */
  get left(): number {
    return readdirSync(this.#runtime, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('a.env'),
    ).length;
  }
}

const RESUME = 'a.env has an unsaved edit. Resume it?';
const RETURN = 'Return to the editor?';
const STILL_OPEN = expect.stringMatching(/^The editor exited at once without changes\. /);

describe('an edit whose text cannot be taken over', () => {
  const broken = 'echo "A=two" > "$1"; echo "nonsense" >> "$1"';

  it('is kept after a no to going on, asked about the next time, and refused where nobody can be asked', async () => {
    const edited = await Edited.make();
    const failed = await edited.edit(broken, [false]);
    expect(failed).toMatchObject({ exitCode: 2, asked: [RETURN] });
    expect(failed.err).toContain('run "coffer edit --resume a.env" to continue');
    expect(await edited.value).toBe('one');
    expect(edited.left).toBe(1);
    edited.end();
    const declined = await edited.edit('exit 9', [false]);
    expect(declined).toMatchObject({ exitCode: 1, asked: [RESUME] });
    expect(declined.err).toContain('use --resume to continue the edit or --discard to delete it');
    expect(edited.left).toBe(1);
    const { exitCode } = await edited.here.run('edit a.env', { environment: { EDITOR: 'false' } });
    expect([exitCode, edited.left]).toEqual([1, 1]);
    const resumed = await edited.edit('grep -v nonsense "$1" > t; cat t > "$1"', [true]);
    expect(resumed).toMatchObject({ exitCode: 0, asked: [RESUME] });
    expect([await edited.value, edited.left]).toEqual(['two', 0]);
  });

  it('is edited again after a yes', async () => {
    const edited = await Edited.make();
    const twice = `if [ -e again ]; then echo "A=three" > "$1"; else : > again; ${broken}; fi`;
    expect(await edited.edit(twice, [true])).toMatchObject({ exitCode: 0, asked: [RETURN] });
    expect([await edited.value, edited.left]).toEqual(['three', 0]);
  });

  it('is deleted with --discard, and gone on with by --resume, without a question', async () => {
    const edited = await Edited.make();
    await edited.edit(broken, [false]);
    edited.end();
    const resumed = await edited.edit('echo "A=four" > "$1"', [], 'edit --resume a.env');
    expect(resumed).toMatchObject({ exitCode: 0, asked: [] });
    expect(await edited.value).toBe('four');
    await edited.edit(broken, [false]);
    expect(edited.left).toBe(1);
    edited.end();
    const discarded = await edited.edit(
      'grep -q four "$1" && echo "A=five" > "$1"',
      [],
      'edit --discard a.env',
    );
    expect(discarded).toMatchObject({ exitCode: 0, asked: [] });
    expect([await edited.value, edited.left]).toEqual(['five', 0]);
  });
});

describe('an editor', () => {
  it('that ends at once without a change is asked about, and its text is read after any answer', async () => {
    const edited = await Edited.make();
    const told = await edited.edit(':', [false]);
    expect(told).toEqual({ exitCode: 0, err: 'No changes made.\n', asked: [STILL_OPEN] });
    expect(edited.left).toBe(0);
    expect((await edited.edit('echo "A=two" > "$1"', [])).asked).toEqual([]);
    expect(await edited.value).toBe('two');
  });

  it('that fails writes nothing, and leaves a text only if it was changed', async () => {
    const edited = await Edited.make();
    const unchanged = await edited.edit('exit 3', []);
    expect(unchanged).toEqual({
      exitCode: 1,
      err: 'coffer: the editor exited with exit code 3; nothing was written\n',
      asked: [],
    });
    expect(edited.left).toBe(0);
    const changed = await edited.edit('echo "A=two" > "$1"; exit 3', []);
    expect(changed.exitCode).toBe(1);
    expect(changed.err).toContain('nothing was written; your changes are saved in ');
    expect([await edited.value, edited.left]).toEqual(['one', 1]);
  });
});
