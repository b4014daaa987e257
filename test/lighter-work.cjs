/** The cost of new slots, and of the passwords of users: memory in KiB, and passes. */
const USUAL = [
  [65_536, 3],
  [19_456, 2],
];

/**
 * What stretches passphrases, done with the least work that there is where it is called with the cost of new ones: argon2id of slots and of
 * passwords, and scrypt of age. Any other call is done as it is asked for. Each process of a test has to have it, since what one derives another has to
 * derive again.
 */
const lighter = ({ argon2, scrypt }) => ({
  argon2: (algorithm, parameters, done) => {
    const { memory, passes, parallelism } = parameters;
    const isUsual = USUAL.some((usual) => usual[0] === memory && usual[1] === passes);
    argon2(algorithm, isUsual ? { ...parameters, memory: 8 * parallelism, passes: 1 } : parameters, done);
  },
  scrypt: (passphrase, salt, length, ...rest) => {
    const [options, done] = rest;
    const isUsual = typeof options === 'object' && options.N === 2 ** 18;
    if (isUsual) scrypt(passphrase, salt, length, { ...options, N: 2 }, done);
    else scrypt(passphrase, salt, length, ...rest);
  },
});

module.exports = { lighter };
