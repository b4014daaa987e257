import { authentication } from './authentication.ts';
import type { Chapter } from './row.ts';
import { tags } from './tags.ts';
import { transitBackup } from './transit-backup.ts';
import { transitDecrypt } from './transit-decrypt.ts';
import { transitEncrypt } from './transit-encrypt.ts';
import { transitGenerate } from './transit-generate.ts';
import { transitKeyChanges } from './transit-key-changes.ts';
import { transitKeys } from './transit-keys.ts';
import { sign } from './transit-sign.ts';
import { verify } from './transit-verify.ts';

/** Every row of both specifications. */
export const CHAPTERS: readonly Chapter[] = [
  ...transitKeys,
  ...transitKeyChanges,
  ...transitEncrypt,
  ...transitDecrypt,
  ...transitGenerate,
  sign,
  verify,
  ...transitBackup,
  ...tags,
  authentication,
];

/** The page that shows them. */
export function printPage(): string {
  const rows = CHAPTERS.flatMap((chapter) => chapter.rows);
  const checks = rows.reduce((sum, { only }) => sum + (only === undefined ? 2 : 1), 0);
  const chapters = CHAPTERS.map(({ title, rows: own }) => {
    const lines = own.map(
      ({ text, only }) => `| ${text.replaceAll('|', '\\|')} | ${only ?? 'HTTP, command'} |`,
    );
    return `## ${title}\n\n| | checked by |\n|---|---|\n${lines.join('\n')}\n`;
  });
  return `<!-- Written by "npm run generate". -->
# The specifications, row by row

What the two specifications of the API say (transit encryption, and the tags of an organization), in our words, each row
with its check. The rows are in [test/specification](../test/specification); \`npx vitest run test/specification\` asks
each of them over HTTP, at a server, and by the command, on a local store: ${rows.length} rows, ${checks} checks. What is different on
purpose from Vault, OpenBao and Terraform Enterprise is on the pages [Compatibility](compatibility.md) and
[Tags](tags.md).

${chapters.join('\n')}`;
}
