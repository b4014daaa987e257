import { chmodSync, symlinkSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { editorOf } from '../../../src/cli/editing/editor.ts';
import { refusal } from '../../refusal.ts';
import { DirectoryHere } from '../directory-here.ts';
import { promptsDouble } from '../streams.double.ts';

/** A file, and an editor that is a script. */
async function withEditor(script: string): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  here.write('f.env', 'A=one\n');
  here.write('editor', `#!/bin/sh\n${script}\n`);
  chmodSync(here.file('editor'), 0o755);
  return here;
}

/** How long an editor seems to run. */
function editorRunsFor(ms: number): void {
  let now = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => (now += ms));
  onTestFinished(() => spy.mockRestore());
}

describe('an editor that ends at once', () => {
  it('is asked about when nothing was changed, and what a window of it then wrote is taken', async () => {
    // The window writes when the question is there.
    const here = await withEditor('printf %s "$1" > "$(dirname "$0")/path"');
    editorRunsFor(1);
    const prompts = promptsDouble([true]);
    const confirm: typeof prompts.confirm = async (question) => {
      expect(question).toContain('If its window is still open');
      const { writeFileSync } = await import('node:fs');
      writeFileSync(here.read('path'), 'A=two\n');
      return prompts.confirm(question);
    };
    const result = await here.run('edit f.env', {
      prompts: { ...prompts, confirm },
      environment: { EDITOR: here.file('editor') },
    });
    expect(result).toMatchObject({ exitCode: 0, err: 'Wrote f.env.\n' });
    expect(here.read('f.env')).toBe('A=two\n');
  });

  it.each([
    ['ran for a while', 'true', 1_000],
    ['has changed something', 'echo A=two > "$1"', 1],
  ])('is not asked about when it %s', async (_, script, ms) => {
    const here = await withEditor(script);
    editorRunsFor(ms);
    const prompts = promptsDouble([]);
    const environment = { EDITOR: here.file('editor') };
    expect(await here.run('edit f.env', { prompts, environment })).toMatchObject({ exitCode: 0 });
    expect(prompts.asked).toEqual([]);
  });

  it.each([
    ['gvim', 'gvim --nofork'],
    ['mvim -c x', 'mvim -c x --nofork'],
    ['kate', 'kate --block'],
    ['nvim-qt', 'nvim-qt --nofork'],
    ['/usr/bin/gedit', '/usr/bin/gedit --wait'],
  ])('because it goes on in a window is refused, with what to set: %s', (command, better) => {
    expect(refusal(() => editorOf({ EDITOR: command }))).toMatchObject({ kind: 'invalid', field: 'EDITOR' });
    expect(editorOf({ EDITOR: better }).command).toBe(better);
  });

  it('is Vim with -g, too', () => {
    const here = DirectoryHere.make();
    here.write('vim.basic', '');
    chmodSync(here.file('vim.basic'), 0o755);
    symlinkSync('vim.basic', here.file('vi'));
    const environment = { PATH: here.path };
    expect(refusal(() => editorOf({ ...environment, EDITOR: 'vi -g' })).message).toContain(
      'returns before its window is closed',
    );
    expect(editorOf({ ...environment, EDITOR: 'vi -g -f' }).command).toBe('vi -g -f');
    expect(editorOf({ ...environment, EDITOR: 'vi' }).command).toBe('vi');
  });
});

describe('an edited file', () => {
  it.each(['.coffer-edit.json', '.Coffer-Edit.json'])(
    'may be called like the notes of an edit: %s',
    async (name) => {
      const here = await withEditor('sed -i s/one/two/ "$1"');
      here.write(name, '{"a": "one"}\n');
      const environment = { EDITOR: here.file('editor') };
      expect(await here.run(['edit', name], { environment })).toMatchObject({
        exitCode: 0,
        err: `Wrote ${name}.\n`,
      });
      expect(here.read(name)).toBe('{"a": "two"}\n');
    },
  );

  it('that the editor wrote with bytes that are no text is not taken, and the text is kept', async () => {
    const here = await withEditor('printf "A=\\351\\n" > "$1"');
    const environment = { EDITOR: here.file('editor') };
    const { exitCode, err } = await here.run('edit f.env', { environment });
    expect({ exitCode, err }).toMatchObject({
      exitCode: 2,
      err: expect.stringMatching(/f\.env is not UTF-8; your changes are saved in /) as string,
    });
    expect(here.read('f.env')).toBe('A=one\n');
    await here.run('edit --discard f.env', { environment: { EDITOR: 'true' } });
  });
});
