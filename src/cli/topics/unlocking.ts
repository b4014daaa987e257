import type { Topic } from './topic.ts';

export const unlocking: Topic = {
  name: 'unlocking',
  page: 'coffer-unlocking',
  section: 7,
  summary: 'What unlocks a store, and what to do if a passphrase is forgotten',
  commands: ['init', 'unlock', 'lock', 'slots', 'passphrase', 'status', 'rekey'],
  parts: [
    {
      heading: 'What unlocks a store',
      blocks: [
        'Each of the secrets of a store unlocks it by itself, and has a key slot in the store; "coffer slots list" lists the slots. ' +
          '"coffer unlock" asks once and leaves an agent with the unlocked store for later commands.',
        {
          terms: [
            ['passphrase', 'A prompt, COFFER_PASSPHRASE or COFFER_PASSPHRASE_FILE.'],
            ['master key or key file', 'COFFER_MASTER_KEY or COFFER_MASTER_KEY_FILE.'],
            ['password manager', 'COFFER_MASTER_KEY_COMMAND, a command that prints the secret.'],
            ['recovery shares', 'A prompt, or COFFER_SHARES_FILE.'],
            [
              'age or SSH key',
              'The private key: COFFER_IDENTITY, COFFER_IDENTITY_FILE, or a key of this user, if the slot was created or opened on this machine before.',
            ],
          ],
        },
        'Variables take precedence over the agent, and the agent over a prompt. "coffer status" says which secrets unlock this store.',
      ],
    },
    {
      heading: 'Before a passphrase is forgotten',
      blocks: [
        'A passphrase cannot be reset. Add a second secret now, and keep it elsewhere, e.g. on paper:',
        {
          lines: [
            'umask 077',
            'coffer slots add --raw --label paper > master.key',
            'coffer slots add --shares 3 --threshold 2 > shares.txt',
          ],
        },
      ],
    },
    {
      heading: 'If a passphrase is forgotten',
      blocks: [
        'If another secret unlocks the store, add a new passphrase with it, and remove the old slot with "coffer slots remove":',
        { lines: ['COFFER_MASTER_KEY_FILE=master.key coffer slots add --passphrase'] },
        'If nothing else unlocks the store, but an agent still has it open ("coffer agent status"), encrypted values can be read until it ' +
          'locks: run "coffer secrets decrypt FILE" for what you need now. A backup is unlocked by the secrets that the store had ' +
          'when it was made. Otherwise the data is lost: create a new store, and new secrets where the old ones were used.',
      ],
    },
  ],
};
