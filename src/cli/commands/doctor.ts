import { type Examination, examineStore } from '../../store/administration/doctor.ts';
import type { Finding } from '../../store/administration/status.ts';
import type { Command } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { refuseRemote } from '../refuse-remote.ts';
import { credentialsFor } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';
import { printResult } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';

export const command: Command = {
  arguments: [],
  options: [],
  details:
    'Changes nothing. Damage makes the exit code 1; each damaged file is printed with what is wrong and what to do.',
  examples: [
    ['coffer doctor', 'Check the whole store'],
    ["coffer doctor -o json | jq -r '.findings[].file'", 'The damaged files alone'],
  ],
  async run(session) {
    refuseRemote(session);
    const progress = new Progress(session, { bytes: undefined, noun: 'files', besideOutput: false });
    try {
      const examination = await examineStore({
        directory: session.settings.storeDirectory,
        credentials: credentialsFor(session),
        onProgress: (done, total) => progress.show(done, total),
      });
      progress.end();
      await print(session, examination);
      return examination.findings.length === 0 ? DONE : FAILED;
    } finally {
      progress.end();
    }
  },
};

async function print(session: Session, examination: Examination): Promise<void> {
  const { checked, unlocked, findings } = examination;
  const checkedText = `Checked ${checked} ${checked === 1 ? 'file' : 'files'}`;
  if (session.settings.format === 'json' || findings.length > 0) {
    const shape = { table: () => findingTable(findings) };
    await printResult(session, examination, shape);
  }
  if (findings.length === 0) session.say(`${checkedText}: all is well.`);
  else session.fail(`${checkedText}: ${findings.length} of them damaged or out of place`);
  if (!unlocked) session.warn('the store could not be unlocked, so documents were not checked');
}

const findingTable = (findings: readonly Finding[]) => ({
  head: ['File', 'What is wrong', 'What to do'],
  rows: findings.map(({ file, reason, hint }) => [file, reason, hint ?? '']),
});
