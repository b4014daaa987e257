import type { Topic } from './topic.ts';

export const sharing: Topic = {
  name: 'sharing',
  page: 'coffer-sharing',
  section: 7,
  summary: 'How colleagues get access to the encrypted values of a repository',
  commands: ['secrets', 'edit', 'exec', 'team'],
  parts: [
    {
      heading: 'Why a value cannot be decrypted',
      blocks: [
        'A value that was encrypted with a key of a store can only be decrypted with that store. A new store, or a new key of the ' +
          'same name, does not help. To share values, their author moves them to a keyring: a directory .coffer in the repository, ' +
          'with keys that only its members can open, each with an SSH or age key of their own.',
      ],
    },
    {
      heading: 'How the author moves the values to a keyring',
      blocks: [
        'In the repository, for each file with encrypted values:',
        {
          lines: [
            'coffer secrets decrypt .env     # with your store; do not commit the result',
            'coffer team init                # once: creates the keyring, whose first key is called app',
            'coffer secrets encrypt .env     # with the key that .coffer.yaml names for the file',
          ],
        },
        'If .coffer.yaml names another key than app, create it with "coffer team key add NAME". After "coffer team init", files of ' +
          'the repository use its keyring: to decrypt a file that was encrypted with a store, name the store with "--store DIRECTORY".',
        'Then add each colleague with a public key, and commit:',
        {
          lines: [
            'coffer team add bob bob.pub     # or the text of the key: age1…, "ssh-ed25519 …"',
            'git add .coffer .env && git commit -m "Share the secrets with bob" && git push',
          ],
        },
        '"coffer team add" prints an ID. Tell it to bob in person or by chat, not through the repository.',
      ],
    },
    {
      heading: 'How the colleague uses them',
      blocks: [
        'Once in each clone, with the ID that the author sent:',
        { lines: ['git pull', 'coffer team trust ID', 'coffer exec -f .env -- npm start'] },
        'No store is needed. If your private key is not ~/.ssh/id_ed25519 or another usual file, set COFFER_IDENTITY_FILE.',
      ],
    },
    {
      heading: 'What remains in the history of git',
      blocks: [
        'Earlier commits still have the values that were encrypted with the store; only that store decrypts them.',
      ],
    },
  ],
};
