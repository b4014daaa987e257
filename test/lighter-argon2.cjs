/**
 * argon2id as it is called for new passphrases, done with the least work that there is; any other call is done as it is asked for.
 * Each process of a test has to have it, since what one derives another has to derive again.
 */
const lighter = (argon2) => (algorithm, parameters, done) => {
  const { memory, passes, parallelism } = parameters;
  const isUsual = memory === 65_536 && passes === 3;
  argon2(algorithm, isUsual ? { ...parameters, memory: 8 * parallelism, passes: 1 } : parameters, done);
};

module.exports = { lighter };
